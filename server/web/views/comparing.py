"""What an agent did, compared with what one does that knows the goal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ecom_rlve.server.web.played import Played, cart_of
from ecom_rlve.server.web.views.naming import in_words, shown
from ecom_rlve.server.web.views.offers import SUBMIT

Call = tuple[str, Mapping[str, Any]]
_ADDS, _ACTS = "cart_add", ("return_initiate", "return_exchange")


@dataclass(frozen=True, slots=True)
class Revealed:
    """What is told after the end, of episodes that the page itself played."""

    goal: Mapping[str, Any]
    solution: Sequence[Call]
    """The calls and answers of an agent that knew the goal, by name."""
    title_of: Callable[[str], str | None]
    """Returns a product's title by its id; None if it is no product's."""
    currency: str | None
    """Of the catalog; None = dollars."""
    trace: str
    """The episode as JSON lines."""


def differences(played: Played, revealed: Revealed) -> list[str]:
    """Return in words where an episode ended otherwise than it should have."""
    return [*_cart(played, revealed), *_bookings(played, revealed), *_answers(played, revealed)]


def _cart(played: Played, revealed: Revealed) -> Iterator[str]:
    wanted: Counter[str] = Counter()
    variants: dict[str, str] = {}
    for name, args in revealed.solution:
        if name == _ADDS:
            wanted[args["product_id"]] += int(args.get("quantity", 1))
            variants[args["product_id"]] = args.get("variant_id") or ""
    had: Counter[str] = Counter()
    for line in cart_of(played):
        had[line["product_id"]] += int(line.get("quantity", 1))
        right = variants.get(line["product_id"])
        if right and line.get("variant_id") != right:
            yield f"In another variant than they wanted: {_title(line['product_id'], revealed)}."
    if not wanted:
        return
    for product_id in wanted:
        if not had[product_id]:
            yield f"Missing from the cart: {_title(product_id, revealed)}."
        elif had[product_id] != wanted[product_id]:
            title = _title(product_id, revealed)
            yield f"{had[product_id]} in the cart where they wanted {wanted[product_id]}: {title}."
    for product_id in had.keys() - wanted.keys():
        yield f"In the cart though they did not want it: {_title(product_id, revealed)}."


def _bookings(played: Played, revealed: Revealed) -> Iterator[str]:
    """Compare returns and exchanges."""
    done = [each.name for move in played.moves for each in move.seen.tool_results if each.error is None]
    for name, _ in revealed.solution:
        if name in _ACTS and name not in done:
            yield f"{in_words(name)} was to be called and was not."


def _answers(played: Played, revealed: Revealed) -> Iterator[str]:
    right = [args for name, args in revealed.solution if name == SUBMIT]
    given = [move.action["answer"] for move in played.moves if isinstance(move.action.get("answer"), Mapping)]
    final = [answer for answer in given if answer.get("done") is True]
    for wanted, answer in zip(right, final, strict=False):
        for field, value in wanted.items():
            if answer.get(field) != value and not _are_nothing(answer.get(field), value):
                yield from _field(field, answer.get(field), value, revealed)
    if len(final) < len(right) and len(right) > 1:
        yield f"{len(final)} of {len(right)} errands were answered."


def _field(field: str, had: object, wanted: object, revealed: Revealed) -> Iterator[str]:
    if not isinstance(wanted, list):
        yield f"{in_words(field)}: the answer says {shown(had) or 'nothing'}, right is {shown(wanted)}."
        return
    chosen = [each for each in had if isinstance(each, str)] if isinstance(had, list) else []
    missing = [each for each in wanted if each not in chosen]
    if missing:
        titles = "; ".join(_title(each, revealed) for each in missing)
        yield f"Better recommendations would have been: {titles}."


def _are_nothing(had: object, wanted: object) -> bool:
    return not had and not wanted


def _title(product_id: str, revealed: Revealed) -> str:
    return revealed.title_of(product_id) or product_id
