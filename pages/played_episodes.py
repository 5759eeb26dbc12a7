"""The episodes that the pages show. They are found by search, so they can be found again when draws change.

Each is played here in process. A reader could make the same plan from the conversation alone, except for knowing which
of the shown products is the wanted one.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ecom_rlve.catalog.attributes import ATTRIBUTES
from ecom_rlve.envs.customer.customer import Customer
from ecom_rlve.envs.episode.episode import Episode, EpisodeSpec
from ecom_rlve.envs.goal import Slot
from ecom_rlve.envs.tasks.cart.goal import CartGoal, WantedItem
from ecom_rlve.envs.world.shop import Shop
from ecom_rlve.models import Observation, Style

Action = dict[str, Any]
DONE = {"done": True}
_SEEDS = 5000
_LONGEST_OPENING = 260


@dataclass(frozen=True, slots=True)
class Play:
    """An episode and the actions that play it."""

    difficulty: int
    seed: int
    actions: tuple[Action, ...]
    style: Style = "turn"
    wanted: str = ""
    """The goal in words."""
    env_id: str = "CART"

    @property
    def reset(self) -> dict[str, Any]:
        """The arguments of its reset."""
        style = {} if self.style == "turn" else {"style": self.style}
        return {"env_id": self.env_id, "difficulty": self.difficulty, "seed": self.seed, **style}


def first_play(shop: Shop) -> Play:
    """Return a three-turn episode: one product, everything is said at once, no particular variant is wanted."""
    for seed in range(_SEEDS):
        started = _episode(shop, 1, seed)
        goal: CartGoal = started.intent.goal
        (item,) = goal.items
        if item is None or item.variant is not None or item.quantity < 2 or _left_out(started):
            continue
        play = _played(started, _three_turns(started, item))
        if play is not None and _is_quiet(shop, play):
            return play
    raise LookupError(f"no seed below {_SEEDS} gives such an episode")


def asking_play(shop: Shop) -> Play:
    """Return an episode with two items in which a variant and at most two other facts must be asked for."""
    for seed in range(_SEEDS):
        started = _episode(shop, 3, seed)
        goal: CartGoal = started.intent.goal
        items = [item for item in goal.items if item is not None]
        left = _left_out(started)
        has_one_variant = sum(item.variant is not None for item in items) == 1
        is_short = len(started.opening.user_message) <= _LONGEST_OPENING and len(left) in (2, 3)
        if not (is_short and has_one_variant and "variant" in {slot.name for slot in left}):
            continue
        play = _played(started, _asking_turns(started, items, left))
        if play is not None and _is_quiet(shop, play):
            return play
    raise LookupError(f"no seed below {_SEEDS} gives such an episode")


def tool_by_tool(play: Play) -> Play:
    """Return the same episode for a tool-at-a-time client: one call in each action, and turns stay open between."""
    actions: list[Action] = []
    for number, action in enumerate(play.actions[:-1]):
        actions += [{"tool_calls": [call], "end_turn": False} for call in action.get("tool_calls", ())]
        if "assistant_message" in action:
            actions.append({"assistant_message": action["assistant_message"]})
        elif number == len(play.actions) - 2:
            actions[-1]["end_turn"] = True
    actions.append({"tool_calls": [{"name": "submit_answer", "args": {}}]})
    return Play(play.difficulty, play.seed, tuple(actions), "tool", play.wanted)


def _episode(shop: Shop, d: int, seed: int, **axes: float) -> Episode:
    return Episode(shop, EpisodeSpec("CART", d, seed, axes=tuple(axes.items())), "shown")


def _left_out(started: Episode) -> list[Slot]:
    intent = started.intent
    (act,) = Customer(intent).open()
    said = {(item, fact.slot) for item, mention in enumerate(act.mentions) for fact in mention.facts}
    return [slot for slot in intent.slots if (slot.item, slot.name) not in said]


def _search(started: Episode, item: int, unsaid: list[Slot]) -> Action:
    """Return a search in the words that the customer used of an item."""
    said = [slot for slot in started.intent.slots if slot.item == item and slot not in unsaid]
    values = {slot.name: slot.fact.constraint.value for slot in said}
    words = [value for name, value in values.items() if isinstance(value, str) and name not in ("brand", "variant")]
    args = {"query": " ".join([*words, started.intent.subjects[item].plural])}
    if "brand" in values:
        args["brand"] = str(values["brand"])
    return {"name": "catalog_search", "args": {**args, "limit": 3}}


def _three_turns(started: Episode, item: WantedItem) -> Iterator[Action]:
    yield {"tool_calls": [_search(started, 0, [])]}
    yield {"tool_calls": [_add(started, item)]}
    yield {"answer": DONE}


def _asking_turns(started: Episode, items: list[WantedItem], left: list[Slot]) -> Iterator[Action]:
    searches = [_search(started, number, left) for number in range(len(items))]
    yield {"assistant_message": " ".join(_question(started, slot) for slot in left)}
    yield {"tool_calls": searches}
    ids = started.intent.world.shop.catalog.ids
    reads = [{"product_id": ids[item.row]} for item in items if item.variant is not None]
    yield {"tool_calls": [{"name": "catalog_get_variants", "args": args} for args in reads]}
    yield {"tool_calls": [_add(started, item) for item in items]}
    yield {"answer": DONE}


def _add(started: Episode, item: WantedItem) -> Action:
    args: dict[str, Any] = {"product_id": started.intent.world.shop.catalog.ids[item.row]}
    if item.variant is not None:
        args["variant_id"] = item.variant.id
    return {"name": "cart_add", "args": {**args, "quantity": item.quantity}}


def _question(started: Episode, slot: Slot) -> str:
    subject = started.intent.subjects[slot.item]
    if slot.name == "quantity":
        return f"How many {subject.plural} would you like?"
    attribute = slot.fact.constraint.attribute
    label = ATTRIBUTES[attribute].label if attribute in ATTRIBUTES else attribute
    return f"Which {label} should the {subject.singular} have?"


def _played(started: Episode, actions: Iterator[Action]) -> Play | None:
    """Play a plan; None unless each product was shown before it was used, the cart confirmed and all is correct."""
    goal: CartGoal = started.intent.goal
    taken: list[Action] = []
    observation: Observation = started.opening
    for action in actions:
        taken.append(action)
        observation = started.step(action)
        shown = started.intent.world.shown
        if "tool_calls" in action and any(item is not None and item.row not in shown for item in goal.items):
            return None
    result = observation.result
    # The customer's own turns: each that only asks, and the one in which they confirm.
    caused = sum("assistant_message" in action for action in taken) + 1
    if result is None or not result.is_correct or started.customer_caused != caused:
        return None
    if "'" in json.dumps(taken):
        return None
    return Play(started.spec.difficulty, started.spec.seed, tuple(taken), wanted=_in_words(started, goal))


def _in_words(started: Episode, goal: CartGoal) -> str:
    parts = []
    for item, subject in zip(goal.items, started.intent.subjects, strict=True):
        assert item is not None
        variant = f" in {item.variant.value}" if item.variant else ""
        parts.append(f"{subject.singular}{variant} ×{item.quantity}")
    return ", ".join(parts)


def _is_quiet(shop: Shop, play: Play) -> bool:
    """Say whether there is no typing error: the same episode without noise has the same words."""
    noisy, silent = _episode(shop, play.difficulty, play.seed), _episode(shop, play.difficulty, play.seed, p_noise=0.0)
    heard = [(noisy.step(action).user_message, silent.step(action).user_message) for action in play.actions]
    return noisy.opening.user_message == silent.opening.user_message and all(one == other for one, other in heard)
