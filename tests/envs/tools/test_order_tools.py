"""Order and return tools: what they show, what they keep to themselves, what they refuse (SPEC §5.3)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from pydantic import ValidationError

from ecom_rlve.envs.difficulty import axes_of
from ecom_rlve.envs.errors import DomainError
from ecom_rlve.envs.tools.registry import TOOLS
from ecom_rlve.envs.world.eligibility import eligibility
from ecom_rlve.envs.world.orders import Order, OrderLine
from ecom_rlve.envs.world.shop import Shop
from ecom_rlve.envs.world.world import Return, World
from ecom_rlve.models import DomainCode
from ecom_rlve.streams import Streams

REASON = {"reason": "defective"}
REFUND = {**REASON, "method": "store_credit"}


@pytest.fixture
def world(shop: Shop) -> World:
    return World(shop, axes_of(9), Streams("order tools", 1))


def run(world: World, name: str, **args: Any) -> dict[str, Any]:
    """Call a tool as the episode does."""
    tool = TOOLS[name]
    return tool.run(world, tool.args.model_validate(args))


def refusal(world: World, name: str, **args: Any) -> DomainCode:
    with pytest.raises(DomainError) as refused:
        run(world, name, **args)
    assert 5 < len(str(refused.value)) < 1000
    return refused.value.code


def lines_of(world: World) -> Iterator[tuple[Order, OrderLine]]:
    return ((order, line) for order in world.orders for line in order.lines)


def which(world: World, code: DomainCode | None) -> dict[str, str]:
    """Return the ids of a line that is ineligible for this reason (None: eligible)."""
    order, line = next(pair for pair in lines_of(world) if eligibility(world, *pair).code is code)
    return {"order_id": order.order_id, "line_id": line.line_id}


def product(world: World, *, in_stock: bool = True) -> str:
    catalog = world.shop.catalog
    return catalog.ids[next(row for row in range(catalog.size) if (world.stock(row) > 0) == in_stock)]


# --- Reading ----------------------------------------------------------------------------------------------------------


def test_the_list_tells_orders_apart_and_nothing_of_how_they_stand(world: World) -> None:
    result = run(world, "order_list", limit=50)
    assert result["total_orders"] == len(world.orders) == len(result["orders"])
    for shown, order in zip(result["orders"], world.orders, strict=True):
        assert shown == {
            "order_id": order.order_id,
            "date": order.placed.isoformat(),
            "total": order.total_cents / 100,
            "line_ids": [line.line_id for line in order.lines],
            "titles": [world.shop.card(line.row)["title"] for line in order.lines],
            "categories": [world.shop.catalog.category_of(line.row).name for line in order.lines],
        }
    assert not world.shown
    assert not world.orders_read


def test_the_list_has_pages(world: World) -> None:
    pages = [run(world, "order_list", limit=10, offset=offset)["orders"] for offset in range(0, 40, 10)]
    assert [order["order_id"] for page in pages for order in page] == [order.order_id for order in world.orders]
    assert run(world, "order_list", offset=1000)["orders"] == []
    with pytest.raises(ValidationError):
        run(world, "order_list", limit=51)


def test_an_order_shows_everything_that_facts_are_about(world: World) -> None:
    for order in world.orders:
        shown = run(world, "order_get", order_id=order.order_id)
        assert shown["status"] == order.status.value
        assert shown["total"] == order.total_cents / 100
        assert shown.get("eta") == (order.eta.isoformat() if order.eta else None)
        assert shown.get("delivered") == (order.delivered.isoformat() if order.delivered else None)
        for line_shown, line in zip(shown["lines"], order.lines, strict=True):
            assert line_shown["line_id"] == line.line_id
            assert line_shown["product_id"] == world.shop.catalog.ids[line.row]
            assert (line_shown["quantity"], line_shown["price_paid"]) == (line.quantity, line.price_cents / 100)
            assert line_shown["sale_class"] == line.sale_class
            assert line_shown.get("returned") == (line.returned.isoformat() if line.returned else None)
            bought = {variant.id: variant for variant in world.variants(line.row)}[line_shown["variant_id"]]
            assert line_shown[bought.attribute] == bought.shown()[bought.attribute]
    assert world.orders_read == {order.order_id for order in world.orders}
    assert world.shown.keys() == {line.row for _, line in lines_of(world)}


def test_reading_changes_nothing(world: World) -> None:
    run(world, "order_list")
    run(world, "order_get", order_id=world.orders[0].order_id)
    for code in (None, DomainCode.NOT_DELIVERED):
        run(world, "return_check_eligibility", **which(world, code))
    assert (world.returns, world.changes) == ([], 0)
    names = ("order_list", "order_get", "return_check_eligibility")
    assert not any(TOOLS[name].writes for name in names)
    assert all(TOOLS[name].writes for name in ("return_initiate", "return_exchange"))


def test_unknown_orders_and_lines_are_refused(world: World) -> None:
    first, second = world.orders[:2]
    foreign = {"order_id": first.order_id, "line_id": second.lines[0].line_id}
    assert refusal(world, "order_get", order_id="nope") is DomainCode.UNKNOWN_ORDER
    for name, more in (
        ("return_check_eligibility", {}),
        ("return_initiate", REFUND),
        ("return_exchange", {**REASON, "new_product_id": product(world)}),
    ):
        assert refusal(world, name, order_id="nope", line_id="L", **more) is DomainCode.UNKNOWN_ORDER
        assert refusal(world, name, **foreign, **more) is DomainCode.UNKNOWN_LINE
    assert not world.eligibility_read
    assert not world.returns_refused


@pytest.mark.parametrize(
    "code",
    [None, DomainCode.NOT_DELIVERED, DomainCode.WINDOW_CLOSED, DomainCode.FINAL_SALE, DomainCode.ALREADY_RETURNED],
)
def test_a_check_says_what_the_store_would_do(world: World, code: DomainCode | None) -> None:
    line = which(world, code)
    shown = run(world, "return_check_eligibility", **line)
    assert shown["eligible"] == (code is None)
    assert shown.get("code") == code
    assert ("why" in shown) == (code is not None)
    assert world.eligibility_read == {line["line_id"]}
    if code is None:
        assert shown["last_day"] >= world.today.isoformat()
        assert 0 <= shown["restocking_percent"] <= 100


# --- Returning --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "code", [DomainCode.NOT_DELIVERED, DomainCode.WINDOW_CLOSED, DomainCode.FINAL_SALE, DomainCode.ALREADY_RETURNED]
)
def test_the_store_refuses_what_is_not_eligible(world: World, code: DomainCode) -> None:
    line = which(world, code)
    assert refusal(world, "return_initiate", **line, **REFUND) is code
    assert world.returns_refused == {line["line_id"]}
    world.returns_refused.clear()
    assert refusal(world, "return_exchange", **line, **REASON, new_product_id=product(world)) is code
    assert world.returns_refused == {line["line_id"]}
    assert not world.eligibility_read, "a refusal is no reading"
    assert (world.returns, world.changes) == ([], 0)


def test_a_return_is_booked_once(world: World) -> None:
    line = which(world, None)
    shown = run(world, "return_initiate", **line, **REFUND)
    assert shown == {"status": "initiated", **line, **REFUND}
    assert world.returns == [Return(line["order_id"], line["line_id"], "defective", "store_credit")]
    assert world.changes == 1
    assert refusal(world, "return_initiate", **line, **REFUND) is DomainCode.ALREADY_RETURNED
    again = {**REASON, "new_product_id": product(world)}
    assert refusal(world, "return_exchange", **line, **again) is DomainCode.ALREADY_RETURNED
    assert not run(world, "return_check_eligibility", **line)["eligible"]
    lines = {each["line_id"]: each for each in run(world, "order_get", order_id=line["order_id"])["lines"]}
    assert lines[line["line_id"]]["returned"] == world.today.isoformat()
    assert (len(world.returns), world.changes) == (1, 1)


def test_an_exchange_takes_a_product_that_is_there_in_a_variant_that_it_has(world: World) -> None:
    line, new = which(world, None), product(world)
    assert refusal(world, "return_exchange", **line, **REASON, new_product_id="nope") is DomainCode.UNKNOWN_PRODUCT
    strange = {"new_product_id": new, "new_variant_id": "nope"}
    assert refusal(world, "return_exchange", **line, **REASON, **strange) is DomainCode.UNKNOWN_VARIANT
    gone = product(world, in_stock=False)
    assert refusal(world, "return_exchange", **line, **REASON, new_product_id=gone) is DomainCode.OUT_OF_STOCK
    assert not world.returns
    assert not world.returns_refused, "the line itself was not refused"
    row = world.row_of(new)
    variant = world.variants(row)[2]
    stock = world.stock(row)
    shown = run(world, "return_exchange", **line, **REASON, new_product_id=new, new_variant_id=variant.id)
    assert (shown["new_product_id"], shown["variant_id"]) == (new, variant.id)
    assert world.returns == [Return(line["order_id"], line["line_id"], "defective", "exchange", row)]
    assert world.stock(row) == stock
    assert row not in world.shown, "an id given as an argument is not shown by the result"


@pytest.mark.parametrize(
    "wrong",
    [{"reason": "I do not like it"}, {"method": "cash"}, {"quantity": 1}, {"line_id": 7}, {"order_id": "x" * 65}],
)
def test_arguments_are_typed(world: World, wrong: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        run(world, "return_initiate", **{**which(world, None), **REFUND, **wrong})
