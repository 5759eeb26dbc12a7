"""Tools as typed functions: schemas that tell the truth, declared effects, refusals that help (SPEC §5.3)."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from ecom_rlve.envs.errors import DomainError
from ecom_rlve.envs.registry import environment
from ecom_rlve.envs.tools.registry import TOOLS
from ecom_rlve.envs.tools.tool import Tool
from ecom_rlve.envs.world.eligibility import eligibility
from ecom_rlve.envs.world.shop import Shop
from ecom_rlve.envs.world.world import World
from ecom_rlve.models import DomainCode

WorldOf = Callable[..., World]
Snapshot = Callable[[World], tuple[Any, ...]]
Schema = dict[str, Any]

WRITES = {"cart_add", "cart_set_quantity", "cart_remove", "return_initiate", "return_exchange"}
READS = TOOLS.keys() - WRITES
EITHER_TOOL = pytest.mark.parametrize("tool", TOOLS.values(), ids=list(TOOLS))
WITH_ARGUMENTS = sorted(name for name, tool in TOOLS.items() if tool.args.model_fields)


def parameters(tool: Tool[Any]) -> Schema:
    return tool.schema["function"]["parameters"]  # type: ignore[no-any-return]  # JSON has no types


def run(world: World, name: str, **args: Any) -> dict[str, Any]:
    """Call a tool as the episode does."""
    tool = TOOLS[name]
    return tool.run(world, tool.args.model_validate(args))


def refusal(world: World, name: str, **args: Any) -> DomainError:
    with pytest.raises(DomainError) as refused:
        run(world, name, **args)
    assert 5 < len(str(refused.value)) < 1000
    return refused.value


def in_stock(shop: Shop, number: int = 0) -> str:
    """Return the id of a product with at least four units on the shelf."""
    stock = shop.catalog.column("stock").values
    rows = [row for row in range(shop.catalog.size) if stock[row] >= 4]
    return shop.catalog.ids[rows[number]]


def sold_out(shop: Shop) -> str:
    stock = shop.catalog.column("stock").values
    return shop.catalog.ids[next(row for row in range(shop.catalog.size) if stock[row] == 0)]


# --- Schemas ----------------------------------------------------------------------------------------------------------

TYPES = {"string", "integer", "number", "boolean", "array"}
KEYWORDS: dict[str, set[str]] = {
    "string": {"enum", "minLength", "maxLength"},
    "integer": {"minimum", "maximum"},
    "number": {"minimum", "maximum", "exclusiveMinimum"},
    "boolean": set(),
    "array": {"items", "maxItems"},
}


@EITHER_TOOL
def test_schemas_are_flat_openai_functions(tool: Tool[Any]) -> None:
    assert tool.schema.keys() == {"type", "function"}
    assert tool.schema["type"] == "function"
    assert tool.schema["function"].keys() == {"name", "description", "parameters"}
    assert tool.schema["function"]["name"] == tool.name
    assert "\n" not in tool.description
    schema = parameters(tool)
    assert schema.keys() == {"type", "properties", "required", "additionalProperties"}
    assert (schema["type"], schema["additionalProperties"]) == ("object", False)
    assert set(schema["required"]) <= schema["properties"].keys()
    for field in schema["properties"].values():
        assert field["type"] in TYPES
        assert field.keys() - {"type", "description", "default"} <= KEYWORDS[field["type"]]
        assert field.get("minimum", 0) <= field.get("maximum", float("inf"))


def test_the_tools_of_the_contract_are_there() -> None:
    search = parameters(TOOLS["catalog_search"])
    assert search["required"] == ["query"]
    limit = {"type": "integer", "minimum": 1, "maximum": 10, "default": 5}
    assert limit.items() <= search["properties"]["limit"].items()
    assert search["properties"]["offset"]["default"] == 0
    assert search["properties"]["sort"]["enum"] == ["relevance", "price_asc", "rating_desc", "ship_days_asc"]
    assert {
        "category", "brand", "price_min", "price_max", "rating_min", "ship_days_max", "in_stock", "color", "size",
        "material", "connector_type",
    } <= search["properties"].keys()  # fmt: skip
    assert parameters(TOOLS["cart_add"])["required"] == ["product_id"]
    assert parameters(TOOLS["cart_add"])["properties"]["quantity"]["default"] == 1
    assert parameters(TOOLS["cart_set_quantity"])["required"] == ["line_id", "quantity"]
    assert environment("CART").about.tool_names == (
        "catalog_search", "catalog_get_variants", "cart_add", "cart_view", "cart_set_quantity", "cart_remove",
        "user_get_visit_history", "ask_user",
    )  # fmt: skip


def inside(field: Schema) -> st.SearchStrategy[Any]:
    """Return values that a field's schema allows."""
    if "enum" in field:
        return st.sampled_from(field["enum"])
    low, high = field.get("minimum"), field.get("maximum")
    return {
        "string": st.text(
            st.characters(codec="utf-8"),
            min_size=field.get("minLength", 0),
            max_size=min(field.get("maxLength", 50), 50),
        ),
        "integer": st.integers(low, high) | st.integers(low, high).map(float),
        "number": st.floats(low, high, allow_nan=False, allow_infinity=False) | st.sampled_from([0, 1, 5]),
        "boolean": st.booleans(),
        "array": st.lists(
            st.text(st.characters(codec="utf-8"), max_size=20), max_size=min(field.get("maxItems", 5), 5)
        ),
    }[field["type"]]


def outside(field: Schema) -> st.SearchStrategy[Any]:
    """Return values that a field's schema forbids, null apart: it stands for an absent argument."""
    wrong_types: dict[str, list[Any]] = {
        "string": [0, 1.5, True, [], {}, ["red"]],
        "integer": ["one", "1.5", "1 mug", "", 1.5, True, [], {}],
        "number": ["one", "$1", "1,000", "1e999", "NaN", True, [], {}, float("nan"), float("inf")],
        "boolean": [0, 1, "true", "yes", [], {}],
        "array": ["a", 1, {}, [1], [None]],
    }
    wrong = st.sampled_from(wrong_types[field["type"]])
    if "enum" in field:
        wrong |= st.text().filter(lambda text: text not in field["enum"])
    if "maxLength" in field:
        wrong |= st.just("a" * (field["maxLength"] + 1))
    if field.get("minLength"):
        wrong |= st.just("")
    if "minimum" in field:
        wrong |= st.integers(max_value=field["minimum"] - 1)
    if "maximum" in field:
        wrong |= st.integers(min_value=field["maximum"] + 1)
    return wrong


def arguments(tool: Tool[Any]) -> st.SearchStrategy[dict[str, Any]]:
    schema = parameters(tool)
    fields = {name: inside(field) for name, field in schema["properties"].items()}
    required = {name: values for name, values in fields.items() if name in schema["required"]}
    return st.fixed_dictionaries(required, optional={name: fields[name] for name in fields if name not in required})


def as_given(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def plain_value(field: Schema) -> Any:
    """Return one value that a field's schema allows."""
    return field["enum"][0] if "enum" in field else {"integer": 1, "array": ["a"]}.get(field["type"], "a")


@EITHER_TOOL
def test_what_the_schema_allows_is_accepted_and_runs(tool: Tool[Any], world_of: WorldOf) -> None:
    @given(arguments(tool))
    def check(args: dict[str, Any]) -> None:
        checked = tool.args.model_validate(args)
        assert {name: as_given(getattr(checked, name)) for name in args} == args
        with suppress(DomainError):
            assert isinstance(tool.run(world_of(difficulty=6), checked), dict)

    check()


@pytest.mark.parametrize("name", WITH_ARGUMENTS)
def test_what_the_schema_forbids_is_refused(name: str) -> None:
    tool = TOOLS[name]
    schema = parameters(tool)

    @given(st.data(), arguments(tool), st.sampled_from(sorted(schema["properties"])))
    def check(data: st.DataObject, args: dict[str, Any], argument: str) -> None:
        wrong = data.draw(outside(schema["properties"][argument]))
        with pytest.raises(ValidationError):
            tool.args.model_validate({**args, argument: wrong})

    check()


@EITHER_TOOL
def test_unknown_and_missing_arguments_are_refused(tool: Tool[Any]) -> None:
    schema = parameters(tool)
    plain = {name: plain_value(schema["properties"][name]) for name in schema["required"]}
    tool.args.model_validate(plain)
    with pytest.raises(ValidationError):
        tool.args.model_validate({**plain, "strange": "x"})
    for name in schema["required"]:
        with pytest.raises(ValidationError):
            tool.args.model_validate({key: value for key, value in plain.items() if key != name})


@EITHER_TOOL
def test_defaults_in_the_schema_are_those_that_apply(tool: Tool[Any]) -> None:
    schema = parameters(tool)
    plain = {name: plain_value(schema["properties"][name]) for name in schema["required"]}
    checked = tool.args.model_validate(plain)
    optional = {name: field for name, field in schema["properties"].items() if name not in schema["required"]}
    assert {name: getattr(checked, name) for name in optional} == {
        name: field.get("default") for name, field in optional.items()
    }


# --- Effects ----------------------------------------------------------------------------------------------------------


def test_reads_and_writes_are_declared() -> None:
    assert {name for name, tool in TOOLS.items() if not tool.writes} == READS
    assert {name for name, tool in TOOLS.items() if tool.writes} == WRITES
    assert {name for name, tool in TOOLS.items() if tool.is_free} == {"ask_user"}


def called_well(world: World) -> dict[str, dict[str, Any]]:
    """Return arguments of a successful call of every tool, in a world whose cart has one line."""
    shop = world.shop
    order, line = next(
        (order, line) for order in world.orders for line in order.lines if eligibility(world, order, line).is_eligible
    )
    which = {"order_id": order.order_id, "line_id": line.line_id}
    shown = [card["product_id"] for card in run(world, "catalog_search", query="lamp")["results"]]
    return {
        "catalog_search": {"query": "lamp", "limit": 10},
        "catalog_get_product": {"product_id": in_stock(shop)},
        "catalog_get_variants": {"product_id": in_stock(shop)},
        "catalog_rerank": {"query": "desk", "product_ids": shown},
        "cart_add": {"product_id": in_stock(shop, 1)},
        "cart_view": {},
        "cart_set_quantity": {"line_id": "L1", "quantity": 2},
        "cart_remove": {"line_id": "L1"},
        "order_list": {},
        "order_get": {"order_id": order.order_id},
        "return_check_eligibility": which,
        "return_initiate": {**which, "reason": "defective", "method": "store_credit"},
        "return_exchange": {**which, "reason": "defective", "new_product_id": in_stock(shop, 2)},
        "policy_search": {"query": "return window"},
        "policy_get": {"section_id": world.book.sections[0].id},
        "user_get_visit_history": {},
        "ask_user": {"question": "Which brand?"},
        "datetime_now": {},
    }


@EITHER_TOOL
def test_a_read_leaves_the_world_equal_and_a_write_changes_it(
    tool: Tool[Any], world_of: WorldOf, snapshot: Snapshot, shop: Shop
) -> None:
    world = world_of(difficulty=6)
    run(world, "cart_add", product_id=in_stock(shop))
    args = called_well(world)[tool.name]
    before = snapshot(world)
    run(world, tool.name, **args)
    assert (snapshot(world) != before) == tool.writes


@pytest.mark.parametrize("name", sorted(READS))
def test_a_read_repeated_says_the_same(name: str, world_of: WorldOf) -> None:
    world, other = world_of(difficulty=6), world_of(difficulty=6)
    args = called_well(world)[name]
    called_well(other)
    first = run(world, name, **args)
    for between in sorted(READS):
        run(world, between, **called_well(world)[between])
    assert run(world, name, **args) == first == run(other, name, **args)


def test_the_cart_never_changes_stock(world_of: WorldOf, shop: Shop) -> None:
    world = world_of()
    row = world.row_of(in_stock(shop))
    before = world.stock(row)
    run(world, "cart_add", product_id=in_stock(shop), quantity=before)
    assert world.stock(row) == before
    assert run(world, "cart_view")["lines"][0]["in_stock"] is True


def test_only_searches_and_the_history_show_products(world_of: WorldOf, shop: Shop) -> None:
    world = world_of()
    first = in_stock(shop)
    run(world, "catalog_get_variants", product_id=first)
    run(world, "cart_add", product_id=first)
    run(world, "cart_set_quantity", line_id="L1", quantity=2)
    run(world, "cart_view")
    run(world, "ask_user", question="a")
    run(world, "cart_remove", line_id="L1")
    assert world.shown_ids() == set()
    history = [card["product_id"] for card in run(world, "user_get_visit_history")["results"]]
    assert world.shown_ids() == set(history)
    found = [card["product_id"] for card in run(world, "catalog_search", query="lamp")["results"]]
    assert world.shown_ids() == {*history, *found}


# --- Refusals ---------------------------------------------------------------------------------------------------------


def test_every_domain_error_can_be_met_and_helps(world_of: WorldOf, shop: Shop) -> None:
    world = world_of()
    met = [
        refusal(world, "cart_add", product_id="nothing"),
        refusal(world, "cart_add", product_id=in_stock(shop), variant_id="v0"),
        refusal(world, "cart_remove", line_id="L1"),
        refusal(world, "catalog_search", query="a", brand="Axiomat"),
        refusal(world, "cart_add", product_id=sold_out(shop)),
        refusal(world, "catalog_search", query="a", limit=10, offset=191),
        refusal(world, "catalog_search", query="  "),
    ]
    assert [error.code for error in met] == [
        DomainCode.UNKNOWN_PRODUCT,
        DomainCode.UNKNOWN_VARIANT,
        DomainCode.UNKNOWN_LINE,
        DomainCode.UNKNOWN_FILTER_VALUE,
        DomainCode.OUT_OF_STOCK,
        DomainCode.PAGE_TOO_DEEP,
        DomainCode.EMPTY_QUERY,
    ]
    orders = {DomainCode.UNKNOWN_ORDER, DomainCode.NOT_DELIVERED, DomainCode.WINDOW_CLOSED, DomainCode.FINAL_SALE}
    elsewhere = orders | {DomainCode.ALREADY_RETURNED, DomainCode.UNKNOWN_SECTION, DomainCode.NOT_SHOWN}
    assert {error.code for error in met} == set(DomainCode) - elsewhere
    hints = ("search", "catalog_get_variants", "cart_view", "did you mean Axiomar", "sold out", "200", "filter")
    for error, hint in zip(met, hints, strict=True):
        assert hint in str(error)


@pytest.mark.parametrize("name", ["catalog_get_variants", "cart_add"])
@pytest.mark.parametrize("product_id", ["", "nothing", "L1", "\x00", "茶", "a" * 64])
def test_unknown_products_are_refused(name: str, product_id: str, world_of: WorldOf, snapshot: Snapshot) -> None:
    world = world_of()
    before = snapshot(world)
    assert refusal(world, name, product_id=product_id).code is DomainCode.UNKNOWN_PRODUCT
    assert snapshot(world) == before


@pytest.mark.parametrize(("name", "more"), [("cart_remove", {}), ("cart_set_quantity", {"quantity": 2})])
def test_unknown_lines_are_refused(name: str, more: dict[str, Any], world_of: WorldOf, shop: Shop) -> None:
    world = world_of()
    run(world, "cart_add", product_id=in_stock(shop))
    for line_id in ("L0", "L2", "l1", "", in_stock(shop)):
        assert refusal(world, name, line_id=line_id, **more).code is DomainCode.UNKNOWN_LINE


def test_a_variant_of_another_product_is_unknown(world_of: WorldOf, shop: Shop) -> None:
    world = world_of()
    other = run(world, "catalog_get_variants", product_id=in_stock(shop, 1))["variants"][0]["variant_id"]
    assert refusal(world, "cart_add", product_id=in_stock(shop), variant_id=other).code is DomainCode.UNKNOWN_VARIANT


# --- The cart ---------------------------------------------------------------------------------------------------------


def test_without_a_variant_the_first_listed_is_taken(world_of: WorldOf, shop: Shop) -> None:
    for seed in range(5):
        world = world_of(seed)
        for number in range(20):
            product_id = in_stock(shop, number)
            first = run(world, "catalog_get_variants", product_id=product_id)["variants"][0]
            line = run(world, "cart_add", product_id=product_id)["line"]
            assert first.items() - {("in_stock", True)} <= line.items()
            assert line["quantity"] == 1


def test_lines_are_numbered_and_numbers_never_return(world_of: WorldOf, shop: Shop) -> None:
    world = world_of()
    lines = [run(world, "cart_add", product_id=in_stock(shop, at))["line"]["line_id"] for at in range(3)]
    assert len(set(lines)) == 3
    assert run(world, "cart_remove", line_id=lines[1]) == {"removed": lines[1], "lines_in_cart": 2}
    again = run(world, "cart_add", product_id=in_stock(shop, 1))["line"]["line_id"]
    assert again not in lines
    assert [line["line_id"] for line in run(world, "cart_view")["lines"]] == [lines[0], lines[2], again]


def test_a_variant_is_a_line_of_its_own_and_the_same_again_is_not(world_of: WorldOf, shop: Shop) -> None:
    world = world_of()
    product_id = in_stock(shop)
    variants = [each["variant_id"] for each in run(world, "catalog_get_variants", product_id=product_id)["variants"]]
    for variant_id in variants[:2]:
        run(world, "cart_add", product_id=product_id, variant_id=variant_id)
    added = run(world, "cart_add", product_id=product_id, variant_id=variants[1], quantity=2)
    assert (added["line"]["quantity"], added["lines_in_cart"]) == (3, 2)
    assert [line["quantity"] for line in run(world, "cart_view")["lines"]] == [1, 3]


def test_more_than_the_shelf_holds_is_refused_and_says_how_much_there_is(
    world_of: WorldOf, snapshot: Snapshot, shop: Shop
) -> None:
    world = world_of()
    product_id = in_stock(shop)
    stock = world.stock(world.row_of(product_id))
    error = refusal(world, "cart_add", product_id=product_id, quantity=stock + 1)
    assert (error.code, str(stock) in str(error)) == (DomainCode.OUT_OF_STOCK, True)
    run(world, "cart_add", product_id=product_id, quantity=stock)
    before = snapshot(world)
    assert refusal(world, "cart_add", product_id=product_id).code is DomainCode.OUT_OF_STOCK
    assert refusal(world, "cart_set_quantity", line_id="L1", quantity=stock + 1).code is DomainCode.OUT_OF_STOCK
    assert snapshot(world) == before


def test_what_sells_out_can_be_reduced_and_removed_but_not_added(world_of: WorldOf, shop: Shop) -> None:
    world = world_of()
    run(world, "cart_add", product_id=in_stock(shop), quantity=3)
    world.sold_out.add(world.row_of(in_stock(shop)))
    assert refusal(world, "cart_add", product_id=in_stock(shop)).code is DomainCode.OUT_OF_STOCK
    assert refusal(world, "cart_set_quantity", line_id="L1", quantity=4).code is DomainCode.OUT_OF_STOCK
    assert run(world, "cart_set_quantity", line_id="L1", quantity=2)["line"]["in_stock"] is False
    assert run(world, "cart_view")["lines"][0]["in_stock"] is False
    run(world, "cart_remove", line_id="L1")
    assert run(world, "cart_view") == {"lines": [], "subtotal": 0}


def test_a_sold_out_variant_is_seen_wherever_it_is_read(world_of: WorldOf, shop: Shop) -> None:
    world = world_of()
    product_id = in_stock(shop)
    gone, other = run(world, "catalog_get_variants", product_id=product_id)["variants"][:2]
    world.sold_out_variants.add(gone["variant_id"])
    assert refusal(world, "cart_add", product_id=product_id).code is DomainCode.OUT_OF_STOCK
    listed = run(world, "catalog_get_variants", product_id=product_id)["variants"]
    assert [each["in_stock"] for each in listed[:2]] == [False, True]
    run(world, "cart_add", product_id=product_id, variant_id=other["variant_id"])


def test_a_sold_out_product_is_seen_in_every_read(world_of: WorldOf) -> None:
    world = world_of()
    card = run(world, "catalog_search", query="lamp", in_stock=True)["results"][0]
    world.sold_out.add(world.row_of(card["product_id"]))
    listed = {each["product_id"]: each for each in run(world, "catalog_search", query="lamp", limit=10)["results"]}
    assert listed[card["product_id"]]["in_stock"] is False
    left = run(world, "catalog_search", query="lamp", limit=10, in_stock=True)["results"]
    assert card["product_id"] not in {each["product_id"] for each in left}
    variants = run(world, "catalog_get_variants", product_id=card["product_id"])["variants"]
    assert not any(each["in_stock"] for each in variants)


def test_the_subtotal_is_exact(world_of: WorldOf, shop: Shop) -> None:
    world = world_of()
    cents = 0
    for number in range(30):
        row = world.row_of(in_stock(shop, number))
        run(world, "cart_add", product_id=in_stock(shop, number), quantity=3)
        price = shop.catalog.product(row).price_cents
        cents += 3 * (price or 0)
    assert run(world, "cart_view")["subtotal"] == cents / 100


def test_ask_user_says_where_the_answer_is(world_of: WorldOf) -> None:
    assert "user_message" in str(run(world_of(), "ask_user", question="Which brand?"))


def test_the_history_is_the_worlds_and_keeps_its_order(world_of: WorldOf, shop: Shop) -> None:
    shown = [card["product_id"] for card in run(world_of(), "user_get_visit_history")["results"]]
    assert shown == [shop.catalog.ids[row] for row in world_of().history]
