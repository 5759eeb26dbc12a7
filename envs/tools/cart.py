"""Cart tools. The agent's own cart never changes stock."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from ecom_rlve.envs.errors import DomainError
from ecom_rlve.envs.tools.tool import WHOLE, Args, Tool
from ecom_rlve.envs.world.cards import named_currency
from ecom_rlve.envs.world.variants import Variant
from ecom_rlve.envs.world.world import CartLine, World
from ecom_rlve.models import DomainCode

Quantity = Annotated[int, Field(ge=1, le=1000), WHOLE]
Id = Annotated[str, Field(max_length=64)]


class AddArgs(Args):
    """Arguments of ``cart_add``."""

    product_id: Id = Field(description="As results show it.")
    variant_id: Id | None = Field(default=None, description="From catalog_get_variants; absent: the first listed.")
    quantity: Quantity = 1


class SetQuantityArgs(Args):
    """Arguments of ``cart_set_quantity``."""

    line_id: Id = Field(description="As cart_view shows it.")
    quantity: Quantity


class RemoveArgs(Args):
    """Arguments of ``cart_remove``."""

    line_id: Id = Field(description="As cart_view shows it.")


class ViewArgs(Args):
    """``cart_view`` takes none."""


def _view(world: World, _: ViewArgs) -> dict[str, Any]:
    return {
        "lines": [_shown(world, line) for line in world.cart],
        "subtotal": _subtotal(world),
        **named_currency(world.shop.catalog),
    }


def _shown(world: World, line: CartLine) -> dict[str, Any]:
    card = world.shop.card(line.row)
    shown = {key: card[key] for key in ("product_id", "title", "price", "price_from", "currency") if key in card}
    if line.variant.price_cents is not None:
        shown.pop("price_from", None)
    return {
        "line_id": line.line_id,
        **shown,
        **line.variant.priced(),
        "quantity": line.quantity,
        "in_stock": world.in_stock(line.row, line.variant),
    }


def _subtotal(world: World) -> float:
    values = world.shop.catalog.column("price").values
    prices = [(line.variant.price_cents or values.item(line.row), line.quantity) for line in world.cart]
    return sum([round(price) * quantity for price, quantity in prices if price >= 0]) / 100


def _add(world: World, args: AddArgs) -> dict[str, Any]:
    row = world.row_of(args.product_id)
    variant = chosen_variant(world, row, args.variant_id)
    line = next((line for line in world.cart if line.row == row and line.variant == variant), None)
    _require_stock(world, row, variant, args.quantity + (line.quantity if line else 0))
    if line is None:
        world.lines_made += 1
        line = CartLine(f"L{world.lines_made}", row, variant, args.quantity)
        world.cart.append(line)
    else:
        line.quantity += args.quantity
    world.changes += 1
    return {"line": _shown(world, line), "lines_in_cart": len(world.cart)}


def chosen_variant(world: World, row: int, variant_id: str | None) -> Variant:
    """Return a product's variant by id, for None the first listed of which there is plenty, if there is one.

    Raises the domain error UNKNOWN_VARIANT.
    """
    variants = world.variants(row)
    if variant_id is None:
        return next((variant for variant in variants if variant.is_plentiful), variants[0])
    for variant in variants:
        if variant.id == variant_id:
            return variant
    raise DomainError(
        DomainCode.UNKNOWN_VARIANT, "this product has no such variant; catalog_get_variants lists its variants"
    )


def _require_stock(world: World, row: int, variant: Variant, quantity: int) -> None:
    if not world.in_stock(row, variant):
        is_one = variant.id in world.sold_out_variants or world.in_stock(row)
        raise DomainError(DomainCode.OUT_OF_STOCK, "this variant is sold out" if is_one else "sold out")
    units = world.units(row, variant)
    if quantity > units:
        world.refused.add(row)
        raise DomainError(DomainCode.OUT_OF_STOCK, f"only {units} left")


def _line(world: World, line_id: str) -> CartLine:
    for line in world.cart:
        if line.line_id == line_id:
            return line
    raise DomainError(DomainCode.UNKNOWN_LINE, "the cart has no such line; cart_view lists its lines")


def _set_quantity(world: World, args: SetQuantityArgs) -> dict[str, Any]:
    line = _line(world, args.line_id)
    if args.quantity > line.quantity:
        _require_stock(world, line.row, line.variant, args.quantity)
    line.quantity = args.quantity
    world.took_out(line, args.quantity)
    world.changes += 1
    return {"line": _shown(world, line), "lines_in_cart": len(world.cart)}


def _remove(world: World, args: RemoveArgs) -> dict[str, Any]:
    line = _line(world, args.line_id)
    world.cart.remove(line)
    world.took_out(line, 0)
    world.changes += 1
    return {"removed": line.line_id, "lines_in_cart": len(world.cart)}


CART_ADD = Tool(
    "cart_add",
    "Put a product into the cart.",
    AddArgs,
    _add,
    writes=True,
    aliases=(("qty", "quantity"),),
)
CART_VIEW = Tool("cart_view", "List the cart's lines.", ViewArgs, _view)
CART_SET_QUANTITY = Tool(
    "cart_set_quantity",
    "Change a cart line's quantity.",
    SetQuantityArgs,
    _set_quantity,
    writes=True,
    aliases=(("qty", "quantity"),),
)
CART_REMOVE = Tool("cart_remove", "Take a line out of the cart.", RemoveArgs, _remove, writes=True)
