"""Writes docs/learning.md and its plots from what the runs found."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from ecom_rlve.evaluation.line_chart import charts
from ecom_rlve.training.learning.experiments import (
    ADAPTIVE,
    LEVELS,
    SHORT,
    SHUFFLED,
    WARM,
    Cell,
    Job,
    Outcome,
    controls,
    interval,
    pooled,
    proof,
)
from ecom_rlve.training.learning.runs import Judged

TARGETS: Mapping[tuple[str, int], float] = {
    **{("STATUS", d): 0.95 for d in (0, 3, 6, 9)},
    **{("POLICY", d): 0.90 for d in (0, 3, 6, 9)},
    ("CART", 0): 0.90,
    ("CART", 1): 0.80,
    ("CART", 3): 0.50,
    ("RETURN", 0): 0.80,
    ("PD", 0): 0.80,
}
"""Held-out success that at least four of five seeds are to reach."""
_SEEDS, _LEAST_SEEDS = 5, 4
_BUCKETS = 4
_INTRODUCTION = """# A small policy learns

`make learn` writes this page. A linear softmax policy is trained with the recipe's own objective: groups of eight
episodes, group-normalised advantages, groups kept where some are correct but not all and where rewards differ, ratios
clipped to 1 - 0.2 and 1 + 0.28, every decision weighing the same, no KL term, and a bonus for entropy. It plays in
style `tool` under the adaptive curriculum, and chooses among 10 to 60 candidates: search with these words, filter by
that, ask for this, look, add, answer. It reads nothing but the text of observations: through the reader of
`envs/reading/facts.py`, which is made from the bank's own frames, and as a bag of words.

Three things are there because runs without them settled on one habit before anything better had been tried. A policy
that knows nothing draws a skill first and then a candidate: where every candidate is as likely, it asks one of eight
questions after another until its turns are over. The words of the first message move at a tenth of the step of what
was read from it: at full steps forty of them outweigh all else. And what RETURN answers after a check is one skill
where the line can be returned and another where not: refusing is right for a third of all lines and soon learnt. Where
that carries over to the others, their groups are all wrong, the filters drop them, and nothing teaches it otherwise.

The curriculum judges the frontier by {tau_num} seeds. With the default of 32 and groups of eight, the frontier would
need 15,360 episodes to reach d = 9. Success is judged on held-out episodes of the split `eval`, whose target products
are no others' ({judged} a cell, the most probable candidate each time), and never by the frontier. The last columns
show seed 0 on the split `test` and on a catalog of other products (`synthetic` with another seed).

Runs on the server play over HTTP. The others play in process, by the same code under the same curriculum, for a third
of the CPU seconds.

## What is given

The policy learns what to do, not how to read or to speak. Given are the words of its questions, the reader, and skills
that make whole actions: a search with what was read, the arithmetic of POLICY's rules, the order in which PD's brief
says that products are worth more. What is right is one candidate among many. In particular:

- RETURN: the phrase that names a reason is translated into the store's reason, because with fourteen pairs of reason
  and method a random policy is right too seldom for groups to differ. Lines of the kind that the customer names are
  ranked by how their orders agree with what was said, and the best four are offered. Replacements, which begin at
  d = 1, have no skills.
- CART: the cards of each kind are ranked by what they meet of what was read, then by visits and by words in common; the
  first three are offered. A product can be added once its variants were listed. Words that no card has shown are taken
  for values where a frame says so ("in the matte finish"), until the store knows no such value. One question asks for
  up to three of brand, number and variant that were neither said nor asked.
- PD: lists are offered whole, in five orders and from three pools.
- POLICY: a section's outcomes are matched with what the customer said, and the sum of all known ones is one answer.
- A look at what was looked at before is not offered again. A question is, except in RETURN.

SUB, BUNDLE and JOURNEY have no skills here.
"""
_NO_CONTROLS = "The controls were not run for this page. `make learn` runs them."


def page(outcomes: Sequence[Outcome], random: Mapping[Cell, Judged], judged: int, tau_num: int) -> str:
    """Return the page as Markdown."""
    main = [each for each in outcomes if each.job.name == ADAPTIVE]
    others = [each for each in outcomes if each.job.name != ADAPTIVE]
    parts = [
        _INTRODUCTION.format(tau_num=tau_num, judged=judged),
        "## Runs\n\n" + "\n".join(_runs(outcomes)) + "\n\n" + _left_out(outcomes),
        "## Held-out success\n\n" + "\n".join(_successes(main, random)) + "\n\n" + _summary(main),
        "![Highest difficulty drawn by the curriculum](learning_frontier.svg)\n\n"
        "![Share of correct episodes, in percent](learning_correct.svg)",
        "## Controls\n\n" + ("\n".join(_controls(main, others)) if others else _NO_CONTROLS),
        "## Share of groups that teach\n\n"
        "The share of groups that passed both filters, in each quarter of a run.\n\n" + "\n".join(_mixed(outcomes)),
        "## What the policies do\n\n"
        "How often each skill was used in a held-out episode, all seeds together. Questions where nothing is left out "
        "(d = 0 leaves out one fact in twenty) and corrections of a cart are the odd habits to look for.\n\n"
        + "\n".join(_skills(main)),
    ]
    return "\n\n".join(parts) + "\n"


def _successes(main: Sequence[Outcome], random: Mapping[Cell, Judged]) -> Iterator[str]:
    seeds = sorted({each.job.plan.seed for each in main})
    head = ["env", "d", "random policy", *(f"seed {seed}" for seed in seeds), "test split", "other catalog", "target"]
    yield from _table_head(head)
    cells = {cell: found for each in main for cell, found in each.cells.items()}
    for env_id, difficulties in LEVELS.items():
        for d in difficulties:
            own = [cells.get(Cell(ADAPTIVE, env_id, d, seed, "eval")) for seed in seeds]
            judged = [each for each in own if each]
            if not judged:
                continue
            elsewhere = [cells.get(Cell(ADAPTIVE, env_id, d, 0, where)) for where in ("test", "other catalog")]
            by_chance = random.get(Cell("random", env_id, d, 0, "eval"))
            shown = [interval(found) if found else "" for found in (by_chance, *own, *elsewhere)]
            yield _row([env_id, str(d), *shown, f"≥ {TARGETS[env_id, d]:.2f}: {_verdict(TARGETS[env_id, d], judged)}"])


def _runs(outcomes: Sequence[Outcome]) -> Iterator[str]:
    yield from _table_head(["run", "envs", "episodes", "seeds", "on the server"])
    grouped: dict[tuple[str, str, int], list[Outcome]] = {}
    for each in outcomes:
        plan = each.job.plan
        grouped.setdefault((each.job.name, "+".join(plan.env_ids), plan.episodes), []).append(each)
    for (name, envs, episodes), runs in grouped.items():
        served = sum(each.job.url is not None for each in runs)
        yield _row([name, envs, f"{episodes:,}", str(len(runs)), str(served)])


def _left_out(outcomes: Sequence[Outcome]) -> str:
    """Return which runs of the whole proof this page does without."""
    whole = [*proof(tuple(LEVELS), _SEEDS, 1, None), *controls(_SEEDS, 1)]
    left = Counter(map(_run_of, whole)) - Counter(_run_of(each.job) for each in outcomes)
    if not left:
        return "These are all runs of the proof."
    names = "; ".join(f"{number} of {run}" for run, number in left.items())
    return f"**This page shows a part of the proof.** Left out for want of time, and made by `make learn`: {names}."


def _run_of(job: Job) -> str:
    return f"{job.name}, {'+'.join(job.plan.env_ids)}"


def _summary(main: Sequence[Outcome]) -> str:
    """Return which targets are met, and of those that are not, how near the runs come."""
    by_verdict: dict[str, list[str]] = {}
    for (env_id, d), target in TARGETS.items():
        own = _evals(main, env_id, d)
        reached = f"{sum(found.success >= target for found in own)} of {len(own)} seeds"
        by_verdict.setdefault(_verdict(target, own), []).append(f"{env_id} at d = {d} ({reached})")
    parts = [f"{verdict.capitalize()}: {', '.join(names)}." for verdict, names in by_verdict.items()]
    return (
        f"A target is met where at least {_LEAST_SEEDS} of {_SEEDS} seeds reach it, and open where too few seeds were "
        f"trained to tell. {' '.join(parts)}"
    )


def _evals(outcomes: Sequence[Outcome], env_id: str, difficulty: int) -> list[Judged]:
    """Return what was found on the split ``eval``, run by run."""
    return [
        judged
        for each in outcomes
        for cell, judged in each.cells.items()
        if (cell.env_id, cell.difficulty, cell.where) == (env_id, difficulty, "eval")
    ]


def _verdict(target: float, own: Sequence[Judged]) -> str:
    reached = sum(found.success >= target for found in own)
    if reached >= _LEAST_SEEDS:
        return "met"
    return "open" if len(own) - reached <= _SEEDS - _LEAST_SEEDS and len(own) < _SEEDS else "not met"


def _controls(main: Sequence[Outcome], others: Sequence[Outcome]) -> Iterator[str]:
    yield from _table_head(["control", "env", "d", "held-out success", "adaptive, all seeds"])
    names = dict.fromkeys(cell.name for each in others for cell in each.cells)
    for name in names:
        found: dict[tuple[str, int], list[Judged]] = {}
        for each in others:
            for cell, judged in each.cells.items():
                if cell.name == name:
                    found.setdefault((cell.env_id, cell.difficulty), []).append(judged)
        for (env_id, d), judgements in found.items():
            adaptive = _evals(main, env_id, d)
            beside = interval(pooled(adaptive)) if adaptive else ""
            yield _row([name, env_id, str(d), interval(pooled(judgements)), beside])
    yield ""
    yield (
        f"*{SHUFFLED}*: what is decided in an episode is paid for by another of its group; it should not rise above "
        f"*{WARM}*. *C1* is CART alone, *C4* CART, PD and RETURN, *C8* these with STATUS and POLICY, all "
        "with the same number of episodes: the collections of those names also hold SUB, BUNDLE and JOURNEY, for which "
        "there are no skills. Controls train in process, on fewer episodes than the proof; compare them with "
        f"*{SHORT}*, which differs in nothing else.\n\n"
        "Expected was that *static d=0* fails in POLICY at d = 9, and that *static d=12* teaches nothing in POLICY and "
        "CART, where hardly any group is mixed at first, but something in STATUS. The table says what happened."
    )


def _mixed(outcomes: Sequence[Outcome]) -> Iterator[str]:
    yield from _table_head(["run", "envs", *(f"quarter {at + 1}" for at in range(_BUCKETS))])
    grouped: dict[tuple[str, str], list[Sequence[float]]] = {}
    for each in outcomes:
        key = (each.job.name, "+".join(each.job.plan.env_ids))
        grouped.setdefault(key, []).append(each.progress.mixed)
    for (name, envs), runs in grouped.items():
        yield _row([name, envs, *(f"{share:.2f}" for share in _quarters(runs))])


def _quarters(runs: Sequence[Sequence[float]]) -> list[float]:
    means = []
    for at in range(_BUCKETS):
        values = [value for run in runs for value in run[len(run) * at // _BUCKETS : len(run) * (at + 1) // _BUCKETS]]
        means.append(sum(values) / max(1, len(values)))
    return means


def _skills(main: Sequence[Outcome]) -> Iterator[str]:
    yield from _table_head(["env", "d", "uses of each skill per episode"])
    found: dict[tuple[str, int], list[Judged]] = {}
    for each in main:
        for cell, judged in each.cells.items():
            if cell.where == "eval":
                found.setdefault((cell.env_id, cell.difficulty), []).append(judged)
    for (env_id, d), judgements in sorted(found.items()):
        whole = pooled(judgements)
        yield _row([env_id, str(d), _per_episode(whole.skills, whole.episodes)])


def _per_episode(skills: Counter[str], episodes: int) -> str:
    shares = [f"{skill} {count / episodes:.2f}" for skill, count in skills.most_common()]
    return ", ".join(shares)


def plots(outcomes: Sequence[Outcome]) -> dict[str, str]:
    """Return the plots of the adaptive runs by file name."""
    main = [each for each in outcomes if each.job.name == ADAPTIVE]
    names = {f"{each.job.plan.env_ids[0]}, seed {each.job.plan.seed}": each.progress for each in main}
    frontier = {name: progress.frontier for name, progress in names.items()}
    correct = {name: [round(100 * share) for share in progress.correct] for name, progress in names.items()}
    return {
        "learning_frontier.svg": charts(frontier, title="Highest difficulty drawn by the curriculum, by group"),
        "learning_correct.svg": charts(correct, title="Correct episodes of a batch in percent, by batch"),
    }


def _table_head(names: Sequence[str]) -> Iterator[str]:
    yield _row(names)
    yield _row(["---"] * len(names))


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
