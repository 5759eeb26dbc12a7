"""The benchmark's figures as tables, and its targets with what was measured."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median

from ecom_rlve.evaluation.bench.each_environment import Cost
from ecom_rlve.evaluation.bench.load import Load, Transport
from ecom_rlve.evaluation.bench.plan import Plan
from ecom_rlve.evaluation.bench.sample import DIFFICULTIES, Sample
from ecom_rlve.evaluation.bench.wire import Comparison, JournalPair, Pair

# From the smallest catalog to the largest, 100 times its size: no reset may go through all products.
RESET_RATIO_MOST = 1.3
EACH_RATIO_MOST = 1.5
# The public ancestor plays 25 to 36 in a second on as many products.
EPISODES_LEAST = 1000.0
SHARE_LEAST: dict[Transport, float] = {"http": 0.5, "ws": 0.6}
# What a step waits for the disk may cost at most.
JOURNAL_LEAST = 0.85
# Of 256 sockets: a stock OpenEnv server has a thread for each.
THREADS_MOST = 64
_NAMES: dict[Transport, str] = {"http": "HTTP", "ws": "WebSocket"}
_EASIEST = "0"
"""The mixture on which episodes/s is judged. An episode of a harder one needs more than one search and one add."""


@dataclass(frozen=True, slots=True)
class Target:
    """One target and whether it was met."""

    what: str
    measured: str
    wanted: str
    is_met: bool | None
    """None if this machine cannot tell."""


def in_process_table(samples: Sequence[Sample], plan: Plan) -> str:
    """Return the in-process figures as a Markdown table: medians over the rounds; resets relative to the smallest."""
    lines = [
        "| products | difficulty | reset µs | × smallest "
        "| in an episode: reset µs | search µs | add µs | answer µs | view µs "
        "| episodes/s, one core | steps/s, one core | episodes/s, wall clock |",
        "|---:|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for difficulty in DIFFICULTIES:
        for size in plan.sizes:
            own = _of(samples, size, difficulty)
            calls = [_middle(own, name) for name in ("episode_reset_us", "search_us", "add_us", "answer_us", "view_us")]
            episodes = _middle(own, "episodes_per_cpu_s")
            lines.append(
                f"| {size:,} | {difficulty} | {_middle(own, 'reset_us'):.0f} "
                f"| {reset_ratio(samples, plan, size, difficulty):.2f} | "
                + " | ".join(f"{cost:.0f}" for cost in calls)
                + f" | {episodes:,.0f} | {3 * episodes:,.0f} | {_middle(own, 'episodes_per_s'):,.0f} |"
            )
    return "\n".join(lines)


def reset_ratio(samples: Sequence[Sample], plan: Plan, size: int, difficulty: str) -> float:
    """Return the cost of a reset relative to the smallest catalog: the median of the rounds' ratios."""
    pairs = zip(_of(samples, size, difficulty), _of(samples, plan.sizes[0], difficulty), strict=True)
    return median(large.reset_us / small.reset_us for large, small in pairs)


def _of(samples: Sequence[Sample], size: int, difficulty: str) -> list[Sample]:
    return [each for each in samples if (each.products, each.difficulty) == (size, difficulty)]


def _middle(samples: Sequence[Sample], name: str) -> float:
    return median(float(getattr(each, name)) for each in samples)


def environment_table(costs: Sequence[Cost]) -> str:
    """Return what a reset and a step of every environment cost as a Markdown table: medians over the rounds."""
    lines = [
        "| environment | difficulty | products | reset µs | × smallest | step µs |",
        "|---|---|---:|---:|---:|---:|",
    ]
    for env_id, by_size in _by_environment(costs).items():
        smallest = next(iter(by_size.values()))
        for size, own in by_size.items():
            resets, steps = (median(getattr(each, name) for each in own) for name in ("reset_us", "step_us"))
            levels = ", ".join(map(str, own[0].levels))
            lines.append(
                f"| {env_id} | {levels} | {size:,} | {resets:.0f} | {_growth(own, smallest):.2f} | {steps:.0f} |"
            )
    return "\n".join(lines)


def environment_targets(costs: Sequence[Cost]) -> list[Target]:
    """Return how much a reset grows from the first to the last catalog, for environments that several can serve."""
    targets = []
    for env_id, by_size in _by_environment(costs).items():
        (small, least), (large, most) = (list(by_size.items())[at] for at in (0, -1))
        if small < large:
            ratio = _growth(most, least)
            what = f"{env_id}: reset at {large:,} products / reset at {small:,}"
            targets.append(Target(what, f"{ratio:.2f}", f"≤ {EACH_RATIO_MOST}", ratio <= EACH_RATIO_MOST))
    return targets


def _by_environment(costs: Sequence[Cost]) -> dict[str, dict[int, list[Cost]]]:
    grouped: dict[str, dict[int, list[Cost]]] = {}
    for each in costs:
        grouped.setdefault(each.env_id, {}).setdefault(each.products, []).append(each)
    return grouped


def _growth(own: Sequence[Cost], smallest: Sequence[Cost]) -> float:
    """Return the median of the rounds' ratios."""
    return median(large.reset_us / small.reset_us for large, small in zip(own, smallest, strict=True))


def wire_table(comparisons: Sequence[Comparison]) -> str:
    """Return the figures over the network as a Markdown table; shares are medians of pairs."""
    lines = [
        "| products | transport | clients | cart_view steps/s | p50 ms | p99 ms | bare FastAPI/s | share "
        "| CPU µs a step | bare CPU µs | CPU share | episodes/s |",
        "|---:|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    figures: tuple[tuple[Callable[[Pair], float | None], str], ...] = (
        (lambda pair: pair.ours.rate, ",.0f"),
        (lambda pair: pair.ours.p50_ms, ".2f"),
        (lambda pair: pair.ours.p99_ms, ".2f"),
        (lambda pair: pair.bare.rate, ",.0f"),
        (lambda pair: pair.share, ".0%"),
        (lambda pair: pair.ours.server_cpu_us, ".0f"),
        (lambda pair: pair.bare.server_cpu_us, ".0f"),
        (lambda pair: pair.cpu_share, ".0%"),
    )
    for each in comparisons:
        cells = [f"{each.products:,}", _NAMES[each.transport], str(each.clients)]
        for figure, form in figures:
            value = each.middle(figure)
            cells.append("–" if value is None else format(value, form))
        lines.append(f"| {' | '.join([*cells, format(each.episodes.rate, ',.0f')])} |")
    return "\n".join(lines)


def session_line(crowd: Load, plan: Plan) -> str:
    """Return what was measured with many open sockets."""
    threads = "unknown (no /proc)" if crowd.server_threads is None else str(crowd.server_threads)
    return (
        f"{plan.sessions} sockets with an episode each: {crowd.rate:,.0f} cart_view steps/s, "
        f"p50 {crowd.p50_ms:.1f} ms, p99 {crowd.p99_ms:.1f} ms, threads of the server: {threads}"
    )


def judged(
    samples: Sequence[Sample],
    costs: Sequence[Cost],
    comparisons: Sequence[Comparison],
    crowd: Load,
    pairs: Sequence[JournalPair],
    plan: Plan,
) -> list[Target]:
    """Return every target with what was measured."""
    small, large = plan.sizes[0], plan.sizes[-1]
    ratio = max(reset_ratio(samples, plan, large, difficulty) for difficulty in DIFFICULTIES)
    episodes = _middle(_of(samples, plan.main_size, _EASIEST), "episodes_per_cpu_s")
    targets = [
        Target(
            f"reset at {large:,} products / reset at {small:,}",
            f"{ratio:.2f}",
            f"≤ {RESET_RATIO_MOST}",
            ratio <= RESET_RATIO_MOST,
        ),
        Target(
            f"episodes/s in process on one core, {plan.main_size:,} products",
            f"{episodes:,.0f} ({episodes / EPISODES_LEAST:.2f} ×)",
            f"≥ {EPISODES_LEAST:,.0f}",
            episodes >= EPISODES_LEAST,
        ),
    ]
    targets += environment_targets(costs)
    for each in comparisons:
        if each.products == plan.main_size and each.clients == plan.clients:
            least = SHARE_LEAST[each.transport]
            what = f"{_NAMES[each.transport]} steps/s / bare FastAPI's, {plan.clients} clients"
            targets.append(Target(what, f"{each.share:.2f}", f"≥ {least}", each.share >= least))
    kept = median(each.share for each in pairs)
    what = f"HTTP steps/s with the journal / without, {plan.clients} clients"
    targets.append(Target(what, f"{kept:.2f}", f"≥ {JOURNAL_LEAST}", kept >= JOURNAL_LEAST))
    threads = crowd.server_threads
    targets.append(
        Target(
            f"threads of the server at {plan.sessions} sessions",
            "unknown" if threads is None else f"{threads} ({threads / THREADS_MOST:.2f} ×)",
            f"≤ {THREADS_MOST}",
            None if threads is None else threads <= THREADS_MOST,
        )
    )
    return targets


def target_table(targets: Sequence[Target]) -> str:
    """Return the targets as a Markdown table."""
    words = {True: "PASS", False: "FAIL", None: "not measured"}
    rows = [f"| {each.what} | {each.measured} | {each.wanted} | {words[each.is_met]} |" for each in targets]
    return "\n".join(["| target | measured | wanted | |", "|---|---:|---:|---|", *rows])
