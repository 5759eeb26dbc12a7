"""What the customer wanted, in words, and what of it was handed in.

A goal is a JSON object of whatever its environment has: nothing here knows an environment. A field of an answer is
compared with the goal's entry of the same name (``selected_order_id`` with ``order_id``), the cart with listed items.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ecom_rlve.constraint_words import in_words, is_constraint
from ecom_rlve.evaluation.terminal.amounts import spelled

Goal = Mapping[str, Any]
Named = Callable[[str], str]
"""Returns a product's id with its title, where that is known."""

_SAME = {"eta_date": "arrival"}
"""Fields of answers whose entry in a goal has another name."""


@dataclass(frozen=True, slots=True)
class Compared:
    """One thing that was wanted, beside what was handed in."""

    what: str
    wanted: str
    given: str
    is_right: bool


def errands(goal: Goal) -> list[tuple[str | None, Goal]]:
    """Return the goals of an episode, each with its intent's name where there are several."""
    if "intents" in goal:
        return [(each["intent"], each["goal"]) for each in goal["intents"]]
    return [(None, goal)]


def wanted(goal: Goal, named: Named, currency: str) -> list[str]:
    """Return a goal as lines; what belongs below a line is indented. ``currency``: see :func:`amounts.spelled`."""

    def said(attribute: str, value: object) -> str:
        if attribute == "price" and isinstance(value, (int, float)):
            return spelled(value, currency)
        return f"{value:g}" if isinstance(value, float) else str(value)

    def told(value: object) -> str:
        return in_words(value, said) if is_constraint(value) else _value(value, named)

    return list(_lines(goal, told))


def compared(goal: Goal, answer: Goal, cart: Sequence[Goal], named: Named) -> list[Compared]:
    """Return what can be compared plainly between a goal, the final answer, and the cart at the end."""
    found = list(_items(goal["items"], cart, named)) if "items" in goal else []
    for field, given in answer.items():
        key = next((key for key in goal if field == key or field.endswith(f"_{key}") or _SAME.get(field) == key), None)
        if key is not None and field != "done":
            found.append(_field(field, goal[key], given, named))
    return found


def _field(field: str, want: object, given: object, named: Named) -> Compared:
    if isinstance(want, list) and isinstance(given, list):
        common = len(set(map(str, want)) & set(map(str, given)))
        said = f"{', '.join(map(str, given)) or 'nothing'}: {common} of these"
        return Compared(_spaced(field), _value(want, named), said, want == given)
    return Compared(_spaced(field), _value(want, named), _value(given, named), str(want) == str(given))


def _items(items: Sequence[Goal], cart: Sequence[Goal], named: Named) -> Iterator[Compared]:
    left = list(cart)
    for item in items:
        lines = [line for line in left if line.get("product_id") == item["product_id"]]
        left = [line for line in left if line not in lines]
        fits = [line for line in lines if item["variant_id"] in (None, line.get("variant_id"))]
        right = len(lines) == len(fits) and sum(line["quantity"] for line in fits) == item["quantity"]
        given = " and ".join(_line(line, item["variant_id"]) for line in lines) or "not in the cart"
        yield Compared(named(item["product_id"]), _line(item, item["variant_id"]), given, right)
    for line in left:
        yield Compared(named(str(line.get("product_id"))), "not wanted", _line(line, None), False)


def _line(line: Goal, variant_id: str | None) -> str:
    return f"{line['quantity']} ×" + (f" variant {line.get('variant_id')}" if variant_id else "")


def _lines(value: object, told: Callable[[object], str], indent: str = "") -> Iterator[str]:
    if not isinstance(value, Mapping):
        yield f"{indent}{told(value)}"
        return
    for name, each in value.items():
        if _is_plain(each):
            yield f"{indent}{_spaced(name)}: {told(each)}"
            continue
        yield f"{indent}{_spaced(name)}:"
        for item in each if isinstance(each, list) else [each]:
            first, *rest = _lines(item, told)
            yield f"{indent}- {first}"
            yield from (f"{indent}  {line}" for line in rest)


def _is_plain(value: object) -> bool:
    return not isinstance(value, Mapping) and not (isinstance(value, list) and any(map(_is_nested, value)))


def _is_nested(value: object) -> bool:
    return isinstance(value, (Mapping, list))


def _value(value: object, named: Named) -> str:
    if value is None:
        return "none in particular"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ", ".join(_value(each, named) for each in value)
    return named(value) if isinstance(value, str) else str(value)


def _spaced(name: str) -> str:
    return name.replace("_", " ")
