"""The goal of SUB: a sold-out product, and what may replace it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from ecom_rlve.catalog.attributes import ATTRIBUTES, DISCRETE
from ecom_rlve.catalog.columns.aisle import Aisle
from ecom_rlve.catalog.columns.row_set import RowSet
from ecom_rlve.catalog.constraints import Constraint, all_met, satisfied
from ecom_rlve.envs.difficulty import Axes
from ecom_rlve.envs.errand import Errand, Intent, Subject
from ecom_rlve.envs.errors import GenerationError
from ecom_rlve.envs.goal import Slot
from ecom_rlve.envs.language.acts import Fact, SlotKind
from ecom_rlve.envs.parts.constraints import (
    Places,
    known_count,
    natural_constraint,
    stated_price_bound,
    usable_counts,
    usable_names,
)
from ecom_rlve.envs.parts.description import facts_of
from ecom_rlve.envs.parts.recommendation import (
    PATIENCE,
    REDRAWS,
    Rows,
    buyable,
    fewest_fitting,
    most_fitting,
    one_stays,
    shelf_stockout,
    target_among,
    targets_in,
)
from ecom_rlve.envs.parts.scores import Gains, min_max
from ecom_rlve.envs.parts.small_shops import highest_served
from ecom_rlve.envs.tasks.substitution.opening import opening
from ecom_rlve.envs.tasks.substitution.own_titles import have_own_title, shows_own_title
from ecom_rlve.envs.world.shop import Shop
from ecom_rlve.envs.world.similarity import gower
from ecom_rlve.envs.world.world import World
from ecom_rlve.streams import Streams

_SOLD_OUT_TOGETHER = 12
"""Products of the category that are sold out from the start, including the one that the customer wanted."""
_ROOM_PER_PICK = 5
"""Products that a category must have for each recommendation asked for: an attribute has about so many values."""
_MOST_OF_A_KIND = Fraction(1, 4)
"""Greatest share of the targets that may be of one kind. In a shop of few products the cheapest of the right kind are
the right answer in up to 0.46 of the episodes at d = 0, since its originals are much alike. So a bet on one kind is
right in at most 0.115, within 1.5 times the 1/12 that blind policies may reach (SPEC §11)."""
_AT_ONCE = 1 << 18
"""Number of products that are counted at once, to save memory."""
COMPATIBILITY: tuple[str, ...] = tuple(name for name in DISCRETE if name != "model")
"""Attributes whose value a substitute may have to share with the original."""


def _kind(name: str) -> SlotKind:
    label = ATTRIBUTES[name].label
    return SlotKind(
        name="compatibility",
        label=f"same {label}",
        words=(
            "compatibility", "compatible", "must match", "have to match", "has to match", "must stay the same",
            "stay the same", "remain the same", "must be the same", "keep the same", "need to keep", "must keep",
            "want to keep", "must have", "non-negotiable", "hard requirement", "required",
        ),
    )  # fmt: skip


_KINDS = {name: _kind(name) for name in COMPATIBILITY}


@dataclass(frozen=True, eq=False, slots=True)
class SubstitutionGoal:
    """The sold-out product, and what the customer would take instead."""

    original: int
    required: tuple[Constraint, ...]
    """Equalities on compatibility attributes of the original."""
    wished: tuple[Constraint, ...]
    """The other constraints; the original meets them all."""
    fitting: Rows
    """The pool: products that can replace it and do not sell out; ascending, at least one."""
    wanted: int
    """The best product of the pool."""


def intent_in(errand: Errand[SubstitutionGoal], world: World, streams: Streams) -> Intent[SubstitutionGoal]:
    """Draw an intent in a world, with a sold-out product of the world's split."""
    shop, axes = world.shop, world.axes
    drawn, redraws = _draw(world, streams)
    kind = shop.catalog.category_of(drawn.original)
    world.full_cards = world.wants_facets = True
    world.sold_out.update(drawn.sold_out)
    stockout, pool = shelf_stockout(world, kind.name, drawn.pool)
    wanted = pool_gains(shop, drawn.original, drawn.wished, pool, axes.d).best_rows(1)[0]
    kept = [Fact("compatibility", each, kind=_KINDS[each.attribute]) for each in drawn.required]
    wished = [replace(fact, is_wish=True) for fact in facts_of(drawn.wished, world.shop.catalog.currency)]
    return Intent(
        errand,
        goal=SubstitutionGoal(drawn.original, drawn.required, drawn.wished, pool, wanted),
        world=world,
        subjects=(Subject(kind.singular, kind.plural, kind.name),),
        slots=tuple(Slot(0, fact) for fact in (*kept, *wished)),
        streams=streams,
        opening=opening,
        stockout=stockout,
        redraws=redraws,
    )


def similarity_weight(d: int) -> Fraction:
    """Return λ, the weight of similarity: clip(0.4 + 0.05·d, 0.4, 0.8) (SPEC §3)."""
    return Fraction(min(80, 40 + 5 * d), 100)


def pool_gains(shop: Shop, original: int, wished: Sequence[Constraint], rows: Rows, d: int) -> Gains:
    """Return λ·ŝim + (1 − λ)·s for each of ``rows``: ŝim is the similarity, min–max scaled over them, s the share of
    wishes met.
    """
    alike, spread = min_max(gower(shop, original, rows))
    met = np.zeros(len(rows), dtype=np.int64)
    for constraint in wished:
        met += satisfied(shop.catalog, constraint, rows)
    share, count = similarity_weight(d), max(1, len(wished))
    p, q = share.numerator, share.denominator
    met = met if wished else np.ones_like(met)
    return Gains(rows, p * count * alike + (q - p) * spread * met, q * count * spread)


@dataclass(frozen=True, slots=True)
class _Draft:
    original: int
    sold_out: tuple[int, ...]
    required: tuple[Constraint, ...]
    wished: tuple[Constraint, ...]
    pool: Rows


def highest_difficulty(shop: Shop) -> int:
    """Return the highest difficulty that the shop can serve, -1 if there is none."""
    return highest_served(shop, lambda axes: shop.derive(_targets, axes.m, axes.k_rec), _MOST_OF_A_KIND, _comes_off)


def _comes_off(world: World, streams: Streams) -> bool:
    """Tell whether one draw comes off."""
    draft = _draft(world, streams.stream("original"))
    return draft is not None and one_stays(world, draft.pool)


def _original_counts(shop: Shop) -> NDArray[np.int8]:
    """Return for each product how many constraints could be drawn from it; 0 if it cannot be the sold-out product."""
    return shop.derive(_made_original_counts)


def _made_original_counts(shop: Shop) -> NDArray[np.int8]:
    counts = np.where(have_own_title(shop), usable_counts(shop), 0).astype(np.int8)
    for start in range(0, len(counts), _AT_ONCE):
        some = slice(start, start + _AT_ONCE)
        counts[some][known_count(shop, COMPATIBILITY, some) == 0] = 0
    return counts


def _are_roomy(shop: Shop, k: int) -> NDArray[np.bool_]:
    """Tell for each category whether it is large enough for ``k`` substitutes."""
    return shop.kind_sizes >= _SOLD_OUT_TOGETHER + _ROOM_PER_PICK * k


def _targets(shop: Shop, m: int, k: int) -> RowSet:
    """Return the products that can be the sold-out one, if ``m`` constraints and ``k`` substitutes are needed."""
    return targets_in(shop, _original_counts(shop), m, _are_roomy(shop, k))


def _draw(world: World, streams: Streams) -> tuple[_Draft, int]:
    axes, most = world.axes, most_fitting(world.axes)
    spare: _Draft | None = None
    too_many = 0
    for attempt in range(REDRAWS + 1):
        draft = _draft(world, streams.stream("original", attempt))
        if draft is None or not one_stays(world, draft.pool):
            continue
        if len(draft.pool) <= most:
            return draft, attempt
        too_many += 1
        spare = draft if spare is None or len(draft.pool) < len(spare.pool) else spare
        if too_many == PATIENCE:
            return spare, attempt
    if spare is not None:
        return spare, REDRAWS
    raise GenerationError(
        f"no product with {axes.m} constraints and {axes.k_rec} substitutes was found in split {world.split!r} after "
        f"{REDRAWS} redraws; use another seed or a larger catalog"
    )


def _draft(world: World, rng: Generator) -> _Draft | None:
    """Return what is sold out, required and wished, drawn around a random product; None if the draw fails."""
    shop, axes, catalog = world.shop, world.axes, world.shop.catalog
    targets = shop.derive(_targets, axes.m, axes.k_rec)
    slack, how_many, is_priced = rng.random(3).tolist()
    original = target_among(shop, targets, rng, world.split)
    if original is None or not shows_own_title(shop, original):
        return None
    aisle = shop.aisle(catalog.category_of(original).name)
    is_alike = shop.part("original", _original_counts(shop), aisle) >= axes.m
    is_alike[aisle.place_of(original)] = False
    alike = np.flatnonzero(is_alike)
    names = list(usable_names(catalog, original, rng))
    if len(alike) < _SOLD_OUT_TOGETHER - 1:
        return None
    gone = [aisle.place_of(original), *rng.choice(alike, _SOLD_OUT_TOGETHER - 1, replace=False).tolist()]
    is_left = buyable(world, aisle)
    is_left[gone] = False
    required, pool = _compatible(aisle, original, names, is_left, axes, how_many)
    others = [name for name in names if name not in {each.attribute for each in required}]
    others.insert(int(is_priced * (len(others) + 1)), "price")
    others = others[: axes.m - len(required)]
    if not required or len(others) < axes.m - len(required):
        return None
    price = int(catalog.column("price").values[original])
    wished = tuple(
        stated_price_bound(price, axes.d, slack, catalog.currency)
        if name == "price"
        else natural_constraint(catalog, original, name)
        for name in others
    )
    return _Draft(original, tuple(aisle.rows[gone].tolist()), required, wished, aisle.rows[pool])


def _compatible(
    aisle: Aisle, original: int, names: Sequence[str], left: NDArray[np.bool_], axes: Axes, draw: float
) -> tuple[tuple[Constraint, ...], Places]:
    """Return equalities on compatibility attributes, taken in the order of ``names``, and the pool that they leave.

    An equality that would leave fewer than ``k_rec`` products, or than must fit, is skipped. ``draw`` in [0, 1) chooses
    how many equalities are taken, among the numbers that leave no more products than preferred; if there is none, all.
    """
    choices: list[tuple[tuple[Constraint, ...], NDArray[np.bool_], int]] = []
    required: tuple[Constraint, ...] = ()
    fewest = max(axes.k_rec, fewest_fitting(axes) if axes.p_oos else 0)
    for name in names:
        if name not in COMPATIBILITY or len(required) >= max(1, axes.m - 1):
            continue
        constraint = natural_constraint(aisle.catalog, original, name)
        narrowed = all_met(aisle, [constraint], left)
        count = int(np.count_nonzero(narrowed))
        if count >= fewest:
            required, left = (*required, constraint), narrowed
            choices.append((required, left, count))
    preferred = [choice for choice in choices if choice[2] <= most_fitting(axes)]
    if preferred:
        required, left, _ = preferred[int(draw * len(preferred))]
    return required, np.flatnonzero(left)
