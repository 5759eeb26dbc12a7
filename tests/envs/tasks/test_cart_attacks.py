"""A search for policies that are paid without doing CART's job (SPEC §11): deaf programs, and ones that probe.

A *deaf* program never sees a word of the customer. It looks (history, searches by kind, variants), looks again, and
ranks what it saw by everything a tool shows: places, prices, ids, and what sold out meanwhile. None may beat the bound
of blind policies. A *probing* program changes the cart and takes the customer's reaction as its only ear.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Generator, Iterable
from dataclasses import dataclass
from typing import Any

import pytest
from scipy.stats import binomtest

from ecom_rlve.envs.episode.episode import Episode, EpisodeSpec
from ecom_rlve.envs.tasks.cart.goal import items_at
from ecom_rlve.envs.world.shop import Shop
from ecom_rlve.evaluation.agents import make_expert
from ecom_rlve.evaluation.in_process import play
from ecom_rlve.models import EpisodeResult, Observation, Style
from ecom_rlve.streams import stream

Program = Callable[[Observation, Style], Generator[dict[str, Any], Observation, None]]
LEVELS = (0, 3, 6)
SUBMIT = {"answer": {"done": True}}
CONSTANT_WORDS = (
    "",
    "",
    "Which brand, price and colour? How many do you need? Anything else?",
    "Everything is sold out. What should I take instead?",
    "I have added everything to your cart. Is everything right?",
)
FEATURES = (
    "place", "price", "rating", "ship_days", "fields", "title", "id", "gone", "gone of kind", "variants gone", "found",
    "noise",
)  # fmt: skip


def call(name: str, **args: Any) -> dict[str, Any]:
    """Return one tool call."""
    return {"name": name, "args": args}


def run(shop: Shop, program: Program, d: int, seed: int, style: Style = "turn") -> EpisodeResult:
    """Play a program; where it stops, it submits."""
    episode = Episode(shop, EpisodeSpec("CART", d, seed, style=style), "attacked")
    played = program(episode.opening, style)
    action = next(played)
    while True:
        seen = episode.step(action)
        if seen.result is not None:
            return seen.result
        try:
            action = played.send(seen)
        except StopIteration:
            action = SUBMIT


def found(seen: Observation, key: str) -> list[dict[str, Any]]:
    """Return the entries of a kind in all results of an observation."""
    return [entry for result in seen.tool_results for entry in (result.result or {}).get(key, ())]


def sending(calls: list[dict[str, Any]], seen: Observation, style: Style, words: str) -> Generator[Any, Any, Any]:
    """Send calls as the style wants it, a turn's worth at a time; returns all observations and the last one."""
    heard = []
    while calls and seen.turns_left > 1:
        size = 1 if style == "tool" else max(1, seen.tool_calls_left)
        batch, calls = calls[:size], calls[size:]
        action: dict[str, Any] = {"tool_calls": batch}
        if style == "tool":
            action["end_turn"] = False
        else:
            action["assistant_message"] = words
        seen = yield action
        heard.append(seen)
    return heard, seen


@dataclass(frozen=True)
class Deaf:
    """One deaf program: a plan of looks, a ranking, and what is added."""

    looks: tuple[str, ...]
    weights: tuple[float, ...]
    words: str
    quantity: int
    takes_variant: str

    def __call__(self, opening: Observation, style: Style) -> Generator[dict[str, Any], Observation, None]:
        """Play one episode."""
        heard: list[Observation] = []
        seen = yield {"tool_calls": [call("user_get_visit_history")]}
        heard.append(seen)
        history = found(seen, "results")
        kinds = list(dict.fromkeys(card["category"] for card in history))
        calls = [made for look in self.looks for made in self._calls(look, history, kinds)]
        room = opening.tool_budget or 1
        more, seen = yield from sending(calls[: room * max(1, seen.turns_left - 1)], seen, style, self.words)
        heard += more
        picked = self._pick(heard, history, opening.tool_budget or 1)
        yield {"tool_calls": [self._add(card, heard) for card in picked], **SUBMIT}

    def _calls(self, look: str, history: list[dict[str, Any]], kinds: list[str]) -> list[dict[str, Any]]:
        name, _, number = look.partition(" ")
        if name == "kind":
            some = kinds[int(number) :: 4] if int(number) < len(kinds) else kinds[:1]
            return [call("catalog_search", query="", category=kind, limit=10) for kind in some[:1]]
        if name == "variants":
            return [call("catalog_get_variants", product_id=history[int(number) % len(history)]["product_id"])]
        if name == "any":
            return [call("catalog_search", query="popular products", limit=10)]
        return [call("user_get_visit_history")]

    def _pick(self, heard: list[Observation], history: list[dict[str, Any]], most: int) -> list[dict[str, Any]]:
        last: dict[str, dict[str, Any]] = {}
        times: Counter[str] = Counter()
        gone: dict[str, bool] = {}
        for card in (card for seen in heard for card in found(seen, "results")):
            times[card["product_id"]] += 1
            gone[card["product_id"]] = gone.get(card["product_id"], False) or (
                card["product_id"] in last and last[card["product_id"]]["in_stock"] and not card["in_stock"]
            )
            last[card["product_id"]] = card
        of_kind = Counter(last[name]["category"] for name, is_gone in gone.items() if is_gone)
        lost = Counter[str]()
        for result in (result for seen in heard for result in seen.tool_results if result.result):
            for entry in (result.result or {}).get("variants", ()):
                lost[(result.result or {})["product_id"]] += not entry["in_stock"]
        noise = stream(len(last), *sorted(last)[:3]).random(len(history)).tolist()
        scored = []
        for at, card in enumerate(history):
            name = card["product_id"]
            values = (
                at / len(history), card.get("price", 50) / 100, card.get("rating", 4) / 5, card["ship_days"] / 7,
                len(card) / 12, len(card["title"]) / 100, int(name, 36) % 997 / 997, gone[name],
                of_kind[card["category"]] > 0, lost[name] > 0, times[name] > 2, noise[at],
            )  # fmt: skip
            scored.append((-sum(w * float(v) for w, v in zip(self.weights, values, strict=True)), at, card))
        chosen: dict[str, dict[str, Any]] = {}
        for _, _, card in sorted(scored, key=lambda entry: entry[:2]):
            chosen.setdefault(card["category"], card)
        return list(chosen.values())[: min(most, items_at(3 * (len(history) // 6 - 2)))]

    def _add(self, card: dict[str, Any], heard: Iterable[Observation]) -> dict[str, Any]:
        args = {"product_id": card["product_id"], "quantity": self.quantity}
        for result in (result for seen in heard for result in seen.tool_results if result.result):
            if (result.result or {}).get("product_id") == card["product_id"]:
                listed = (result.result or {}).get("variants", ())
                if listed and self.takes_variant != "default":
                    args["variant_id"] = listed[0 if self.takes_variant == "first" else -1]["variant_id"]
        return call("cart_add", **args)


STOCK_WATCHER = (0.0,) * 7 + (-4.0, 4.0, 2.0, 0.0, 0.1)
KNOWN: tuple[Deaf, ...] = (
    Deaf((), (0.0,) * 11 + (1.0,), "", 1, "default"),
    Deaf(("kind 0", "kind 1", "kind 2", "history"), STOCK_WATCHER, "", 1, "default"),
    Deaf(("kind 0", "kind 1", "kind 2", "kind 3", "history"), STOCK_WATCHER, "", 1, "default"),
    Deaf(tuple(f"variants {at % 3}" for at in range(6)), STOCK_WATCHER, "", 1, "first"),
)
"""Programs that watch what sells out, and where: the change of stock must not tell them what is wanted."""


def random_program(seed: int, d: int) -> Deaf:
    """Return a random deaf program."""
    rng = stream(seed, "deaf program", d)
    bank = ("history", "any", *(f"kind {at}" for at in range(6)), *(f"variants {at}" for at in range(6)))
    looks = tuple(bank[at] for at in rng.integers(len(bank), size=int(rng.integers(0, 7))).tolist())
    if rng.random() < 0.7:
        looks += ("history",)
    weights = rng.normal(size=len(FEATURES)) * (rng.random(len(FEATURES)) < 0.4)
    return Deaf(
        looks,
        tuple(weights.tolist()),
        CONSTANT_WORDS[int(rng.integers(len(CONSTANT_WORDS)))],
        1 + int(rng.random() < 0.1),
        ("default", "first", "last")[int(rng.integers(3))],
    )


def blind_bound(d: int) -> float:
    """Return the greatest share of correct episodes of a blind policy (SPEC §11)."""
    entries = 3 * max(4, 2 * items_at(d) + 2)
    return max(0.01, 1.5 / (2 * entries))


def hunt(shop: Shop, d: int, programs: int, tries: int, trials: int) -> None:
    """Try many programs on a few seeds, then the best and the known ones on many fresh seeds; print and assert."""
    pool = [*KNOWN, *(random_program(seed, d) for seed in range(programs))]
    scored = []
    for at, program in enumerate(pool):
        style: Style = "tool" if at % 2 else "turn"
        wins = sum(run(shop, program, d, seed, style).is_correct for seed in range(tries))
        scored.append((-wins, at))
    best = sorted(scored)[:3]
    chosen = sorted({at for _, at in best} | set(range(len(KNOWN))))
    styles: tuple[Style, ...] = ("turn", "tool")
    finalists = [(at, style) for at in chosen for style in styles]
    for at, style in finalists:
        results = [run(shop, pool[at], d, 10_000 + seed, style) for seed in range(trials)]
        wins = sum(result.is_correct for result in results)
        test = binomtest(wins, trials)
        low = test.proportion_ci(1 - 0.05 / len(finalists), "exact").low
        mean = sum(result.r_total for result in results) / trials
        print(f"d={d} {style:4} program {at}: {wins / trials:.3f} correct (bound {blind_bound(d):.3f}), r {mean:+.2f}")
        assert low <= blind_bound(d), pool[at]


@pytest.mark.parametrize("d", LEVELS)
def test_no_deaf_program_beats_the_blind_bound(big_shop: Shop, d: int) -> None:
    hunt(big_shop, d, programs=4, tries=5, trials=120 if d == 0 else 30)


@pytest.mark.nightly
@pytest.mark.parametrize("d", LEVELS)
def test_no_deaf_program_beats_the_blind_bound_in_a_long_search(big_shop: Shop, d: int) -> None:
    hunt(big_shop, d, programs=100, tries=30, trials=1200)


# --- Programs with one ear --------------------------------------------------------------------------------------------


def probe_by_quantity(opening: Observation, _: Style) -> Generator[dict[str, Any], Observation, None]:
    """Add history entries in a quantity nobody wants: a second sentence of the customer names a wanted one."""
    room = opening.tool_budget or 1
    seen = yield {"tool_calls": [call("user_get_visit_history")]}
    names = [card["product_id"] for card in found(seen, "results")]
    seen = yield {"tool_calls": [call("cart_add", product_id=name, quantity=3) for name in names[:room]]}
    lines = [result.result["line"]["line_id"] for result in seen.tool_results if result.result]
    is_hit = len(re.findall(r"[.!?](?:\s|$)", seen.user_message)) > 1
    if is_hit and len(lines) == 2:
        calls = [call("cart_remove", line_id=lines[0]), call("cart_set_quantity", line_id=lines[1], quantity=1)]
        seen = yield {"tool_calls": calls}
        if not re.search(r"omething|[Nn]ot (?:all|every)|part", seen.user_message):
            return
        calls = [call("cart_remove", line_id=lines[1]), call("cart_add", product_id=names[0])]
        yield {"tool_calls": calls, **SUBMIT}
    else:
        yield {"tool_calls": [call("cart_remove", line_id=line) for line in lines]}
        yield {"tool_calls": [call("cart_add", product_id=names[room])], **SUBMIT}


def probe_by_proposals(_: Observation, __: Style) -> Generator[dict[str, Any], Observation, None]:
    """Propose with ``done=false`` after each addition, and take back what was not confirmed."""
    seen = yield {"tool_calls": [call("user_get_visit_history")]}
    names = [card["product_id"] for card in found(seen, "results")]
    for name in names:
        if seen.turns_left < 2:
            return
        seen = yield {"tool_calls": [call("cart_add", product_id=name)], "answer": {"done": False}}
        if re.search(r"\b[Yy]es|orrect|exactly right|that all fits", seen.user_message):
            return
        lines = [result.result["line"]["line_id"] for result in seen.tool_results if result.result]
        if lines and seen.turns_left >= 2:
            seen = yield {"tool_calls": [call("cart_remove", line_id=line) for line in lines]}


def expert_mean(shop: Shop, d: int, trials: int) -> float:
    """Return the honest expert's mean reward."""
    total = 0.0
    for seed in range(trials):
        episode = Episode(shop, EpisodeSpec("CART", d, seed), "honest")
        total += play(episode, make_expert("CART")).r_total
    return total / trials


@pytest.mark.slow
@pytest.mark.parametrize("d", LEVELS)
@pytest.mark.parametrize("program", [probe_by_quantity, probe_by_proposals])
def test_probing_the_customer_is_no_substitute_for_reading_them(big_shop: Shop, program: Program, d: int) -> None:
    """A probing program hears whether a wanted thing is in the cart; at d=0 that finds one of twelve now and then."""
    trials = 150
    results = [run(big_shop, program, d, seed) for seed in range(trials)]
    correct = sum(result.is_correct for result in results)
    mean = sum(result.r_total for result in results) / trials
    honest = expert_mean(big_shop, d, 40)
    print(f"d={d} {program.__name__}: {correct / trials:.3f} correct, r {mean:+.2f}; the expert's {honest:+.2f}")
    most = 4 / 24 if d == 0 else 0.01
    assert binomtest(correct, trials, most, alternative="greater").pvalue > 0.01
    assert mean < honest - 0.5


def test_asking_without_end_is_not_excused_without_end(big_shop: Shop) -> None:
    """A constant question, an empty claim or silence: the turns are the agent's, and the end comes (SPEC §2.3)."""
    for words in (*CONSTANT_WORDS, "What brand?", "How many do you need?"):
        for d in (0, 6, 12):
            for seed in range(10):
                episode = Episode(big_shop, EpisodeSpec("CART", d, seed), "asked")
                intent = episode.intent
                seen = episode.opening
                while not seen.done:
                    seen = episode.step({"assistant_message": words})
                assert episode.turns <= 2 * episode.axes.t_max
                assert episode.customer_caused <= -(-len(intent.slots) // 3) + 2
                assert seen.result is not None
                assert seen.result.r_total == pytest.approx(-0.9)


def test_a_turn_of_a_tool_at_a_time_is_no_free_turn(big_shop: Shop) -> None:
    """Calls that never close a turn close it when it is full; endless proposals and questions end too."""
    for action in (
        {"tool_calls": [call("cart_view")], "end_turn": False},
        {"answer": {"done": False}, "end_turn": False},
        {"tool_calls": [call("ask_user", question="Anything else?")], "end_turn": False},
        {"end_turn": False},
    ):
        episode = Episode(big_shop, EpisodeSpec("CART", 3, 1, style="tool"), "stalled")
        steps = 0
        while not episode.done:
            episode.step(action)
            steps += 1
        assert steps <= episode.axes.b_tool * 2 * episode.axes.t_max + 1
