"""Checks that an environment's tools change only what they declare to change."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product
from typing import Any

from pydantic import ValidationError

from ecom_rlve.envs.episode.episode import Episode
from ecom_rlve.envs.errors import DomainError, EnvironmentFaultError
from ecom_rlve.envs.world.world import World

_MOST_TRIES = 24


def check_reads(episode: Episode) -> None:
    """Require that tools declared as reading change neither world nor goal, except for what counts as shown."""
    world = episode.intent.world
    for name, tool in episode.environment.about.tools.items():
        if tool.writes:
            continue
        served = False
        for args in _arguments(tool.schema["function"]["parameters"], world):
            try:
                checked = tool.args.model_validate(args)
            except ValidationError as error:
                raise EnvironmentFaultError(f"{name}: its own schema allows {args}, its arguments do not") from error
            before = _state(episode)
            try:
                tool.run(world, checked)
                served = True
            except DomainError:
                pass
            if _state(episode) != before:
                where = episode.environment.about.id
                raise EnvironmentFaultError(f"{where}: {name}({args}) reads, yet it changed the world")
        if not served:
            raise EnvironmentFaultError(f"{episode.environment.about.id}: {name} refused everything that was tried")


def _state(episode: Episode) -> tuple[Any, ...]:
    """Return everything that only a writing tool may change; what was shown or read is not in it."""
    world = episode.intent.world
    return (
        [(line.line_id, line.row, line.variant, line.quantity) for line in world.cart],
        (world.changes, world.lines_made, tuple(world.returns)),
        sorted(world.sold_out),
        sorted(world.sold_out_variants),
        (world.today, world.history),
        [(order.order_id, order.status, order.lines) for order in world.orders],
        repr(episode.goal_json()),
    )


def _arguments(schema: Mapping[str, Any], world: World) -> Iterator[dict[str, Any]]:
    """Yield some arguments that a schema allows, with ids of things in the world and one id of nothing."""
    names = list(schema["required"]) or list(schema["properties"])[:1]
    pools = [_values(name, schema["properties"][name], world) for name in names]
    for number, values in enumerate(product(*pools)):
        if number == _MOST_TRIES:
            return
        yield dict(zip(names, values, strict=True))
    if not schema["required"]:
        yield {}


def _values(name: str, field: Mapping[str, Any], world: World) -> Sequence[Any]:
    if name in _POOLS:
        return _POOLS[name](world)
    if "enum" in field:
        return list(field["enum"])[:2]
    whole = max(1, int(field.get("minimum", 1)))
    plain: Mapping[str, list[Any]] = {"integer": [whole], "number": [float(whole)], "boolean": [True], "array": [[]]}
    return plain.get(field.get("type", "string"), ["lamp"])


def _product_ids(world: World) -> list[str]:
    ids = world.shop.catalog.ids
    return [*sorted(world.shown_ids())[:2], ids[0], ids[len(ids) // 2], "nothing"]


_POOLS: Mapping[str, Callable[[World], list[Any]]] = {
    "product_id": _product_ids,
    "product_ids": lambda world: [sorted(world.shown_ids()), sorted(world.shown_ids())[:1] * 2],
    "order_id": lambda world: [*(order.order_id for order in world.orders[:2]), "nothing"],
    "line_id": lambda world: [*(line.line_id for order in world.orders[:2] for line in order.lines[:2]), "nothing"],
    "section_id": lambda world: [*list(world.book.section_by_id)[:2], "nothing"],
    "query": lambda world: [world.shop.catalog.titles[0], "return window", "?"],
}
"""Values for arguments that name something in the world, by the argument's name."""
