"""The environments: the module ``environment`` of every package in ``envs/tasks`` exports exactly one."""

from __future__ import annotations

import pkgutil
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from types import MappingProxyType

from rapidfuzz import process

from ecom_rlve.envs import tasks
from ecom_rlve.envs.environment import Environment
from ecom_rlve.envs.errors import DifficultyError, UnknownEnvironmentError
from ecom_rlve.envs.language.bank_files import read_bank
from ecom_rlve.envs.language.frames import Frames, known_frames
from ecom_rlve.envs.world.shop import Shop
from ecom_rlve.streams import stream

_C1 = ("CART",)
_C2 = (*_C1, "SUB")
_C4 = (*_C2, "PD", "RETURN")
COLLECTIONS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {"C1": _C1, "C2": _C2, "C4": _C4, "C8": (*_C4, "STATUS", "POLICY", "BUNDLE", "JOURNEY")}
)
"""Nested collections of environments (SPEC §2.1)."""


@lru_cache(maxsize=1)
def environments() -> Mapping[str, Environment]:
    """Return all environments by id, in id order. Fails where a package in ``envs/tasks`` exports none."""
    found: dict[str, Environment] = {}
    for module in pkgutil.iter_modules(tasks.__path__, f"{tasks.__name__}."):
        exported = getattr(import_module(f"{module.name}.environment"), "ENVIRONMENT", None)
        if not isinstance(exported, Environment):
            raise TypeError(
                f"{module.name}.environment must export its environment as ENVIRONMENT; helpers live in envs/parts"
            )
        found[exported.about.id] = exported
    return MappingProxyType(dict(sorted(found.items())))


@lru_cache(maxsize=256)
def environment(name: str) -> Environment:
    """Return an environment by id: ``CART``, ``E_CART`` or ``cart``; raises ``UnknownEnvironmentError``."""
    key = name.upper().removeprefix("E_")
    known = environments()
    if key in known:
        return known[key]
    near = process.extractOne(key, list(known), score_cutoff=60)
    hint = f"did you mean {near[0]}? " if near else ""
    raise UnknownEnvironmentError(f"no environment {name[:64]!r}; {hint}there are {', '.join(known)}")


def known_tables() -> Mapping[str, Frames]:
    """Return every table of frames: what all environments' customers say, and what each one's own say."""
    environments()  # Each reads its own frames, which makes them known.
    return known_frames()


def add_bank(shop: Shop, files: Sequence[Path]) -> None:
    """Let a shop's customers also say the frames of files; raises ``BankError`` that names every wrong line."""
    known_tables()
    shop.bank = read_bank(files, shop.stated_words)


def collection_members(collection: str | Sequence[str] | None) -> list[str]:
    """Return the ids of a collection's environments: a name of :data:`COLLECTIONS`, a list of ids, or None for all.

    Raises ``UnknownEnvironmentError`` for an unknown name, an empty list or a member that does not exist.
    """
    if collection is None:
        return list(environments())
    if isinstance(collection, str):
        if collection.upper() not in COLLECTIONS:
            raise UnknownEnvironmentError(
                f"no collection {collection[:64]!r}; there are {', '.join(COLLECTIONS)}, or give a list of environments"
            )
        return [environment(name).about.id for name in COLLECTIONS[collection.upper()]]
    members = sorted({environment(name).about.id for name in collection})
    if not members:
        raise UnknownEnvironmentError("a collection needs at least one environment")
    return members


def choose_environment(
    collection: str | Sequence[str] | None,
    seed: int,
    can_serve: Callable[[Environment], bool] = lambda _: True,
) -> str:
    """Return the environment that ``seed`` draws from a collection, uniformly among those that can be served.

    ``collection`` is as for :func:`collection_members`, and raises as there; ``DifficultyError`` where none can be
    served.
    """
    members = collection_members(collection)
    served = [member for member in members if can_serve(environment(member))]
    if not served:
        raise DifficultyError(f"this catalog serves none of {', '.join(members)} at the difficulty asked for")
    return served[int(stream(seed, "collection").integers(len(served)))]


def choose_weighted(
    weights: Mapping[str, float],
    seed: int,
    can_serve: Callable[[Environment], bool] = lambda _: True,
) -> str:
    """Return the environment that ``seed`` draws by weights, of any unit, among those that can be served.

    Raises as :func:`choose_environment`.
    """
    served = {member: weight for member, weight in sorted(weights.items()) if weight and can_serve(environment(member))}
    if not served:
        raise DifficultyError(f"this catalog serves none of {', '.join(sorted(weights))} at the difficulty asked for")
    point = stream(seed, "mixture").random() * sum(served.values())
    for member, weight in served.items():
        point -= weight
        if point < 0:
            return member
    # Rounding may leave a rest of the last one's weight.
    return member
