"""What a person types, read into commands: never a crash, never a call that the server cannot read."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ecom_rlve.evaluation.terminal.commands import Answer, Call, CommandError, Say, Word, parse

TOOLS: dict[str, dict[str, Any]] = {
    "catalog_search": {
        "properties": {
            "query": {"type": "string", "maxLength": 300},
            "limit": {"type": "integer", "minimum": 1, "maximum": 10},
            "brand": {"type": "string", "maxLength": 64},
            "price_max": {"type": "number", "minimum": 0},
            "in_stock": {"type": "boolean"},
            "sort": {"type": "string", "enum": ["relevance", "price_asc"]},
        },
        "required": [],
    },
    "policy_get": {"properties": {"section_id": {"type": "string", "maxLength": 64}}, "required": ["section_id"]},
    "order_get": {"properties": {"order_id": {"type": "string", "maxLength": 64}}, "required": ["order_id"]},
    "cart_view": {"properties": {}, "required": []},
    "cart_add": {
        "properties": {
            "variant_id": {"type": "string", "maxLength": 64},
            "product_id": {"type": "string", "maxLength": 64},
            "quantity": {"type": "integer", "minimum": 1},
        },
        "required": ["product_id"],
    },
    "catalog_rerank": {
        "properties": {"query": {"type": "string"}, "product_ids": {"type": "array", "items": {"type": "string"}}},
        "required": ["query", "product_ids"],
    },
}


@pytest.mark.parametrize(
    ("line", "command"),
    [
        ("", Word("send")),
        ("  \n", Word("send")),
        ("Which size, please?", Say("Which size, please?")),
        ("/send", Word("send")),
        ("/tools", Word("tools")),
        ("/quit", Word("quit")),
        ("/done", Answer({"done": True})),
        ('/done {"value": 3}', Answer({"value": 3, "done": True})),
        ('/answer {"recommended_product_ids": ["a"]}', Answer({"recommended_product_ids": ["a"]})),
        ("/search women's red shoes", Call("catalog_search", {"query": "women's red shoes"})),
        ("/catalog_search a mug", Call("catalog_search", {"query": "a mug"})),
        ("/catalog.search mug", Call("catalog_search", {"query": "mug"})),
        (
            '/search mug --brand "Old Mill" --limit=3 --price-max 9.5 --in_stock --sort price_asc',
            Call(
                "catalog_search",
                {
                    "query": "mug",
                    "brand": "Old Mill",
                    "limit": 3,
                    "price_max": 9.5,
                    "in_stock": True,
                    "sort": "price_asc",
                },
            ),
        ),
        ("/search --in_stock=no", Call("catalog_search", {"in_stock": False})),
        ("/view", Call("cart_view", {})),
        ("/add P1", Call("cart_add", {"product_id": "P1"})),
        ("/add P1 V2 3", Call("cart_add", {"product_id": "P1", "variant_id": "V2", "quantity": 3})),
        ("/tool cart_view", Call("cart_view", {})),
        ('/tool cart_add {"product_id": "P1", "quantity": 2}', Call("cart_add", {"product_id": "P1", "quantity": 2})),
        ('/cart_add {"product_id": "P1"}', Call("cart_add", {"product_id": "P1"})),
        (
            "/rerank soft mug --product_ids a,b",
            Call("catalog_rerank", {"query": "soft mug", "product_ids": ["a", "b"]}),
        ),
    ],
)
def test_lines_are_read(line: str, command: object) -> None:
    assert parse(line, TOOLS) == command


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("/", "no command"),
        ("/tool", "no command"),
        ("/serach mug", "did you mean /search"),
        ("/get x", "may be /policy_get or /order_get"),
        ("/search mug --brnad X", "did you mean --brand"),
        ("/search mug --limit many", "whole number"),
        ("/search mug --price_max nan", "a number"),
        ('/search {"price_max": NaN}', "not JSON"),
        ("/search mug --limit 11", "from 1 to 10"),
        ("/search mug --sort best", "relevance, price_asc"),
        ("/search mug --in_stock=maybe", "true or false"),
        ('/search "mug', "quote"),
        ("/add", "product_id is missing"),
        ("/add P1 V2 3 4", "too many words"),
        ("/add P1 --quantity 0", "from 1 to"),
        ('/add {"product_id": "P1", "quantity": "2"}', "whole number"),
        ('/add {"product_id": "P1", "quantity": true}', "whole number"),
        ('/add {"product": "P1"}', "product_id is missing"),
        ('/add {"product_id": "P1", "colour": 1}', "no argument colour"),
        ("/add {", "not JSON"),
        ("/answer", "not JSON"),
        ("/answer [1]", "object"),
    ],
)
def test_slips_are_told_and_cost_nothing(line: str, message: str) -> None:
    with pytest.raises(CommandError, match=message):
        parse(line, TOOLS)


def read(line: str) -> object:
    """Return the command of a line, or why there is none."""
    try:
        return parse(line, TOOLS)
    except CommandError as error:
        return str(error)


@given(st.text(alphabet=st.sampled_from("/ -=\"'{}[],:abtoladsernquicy_19\\\n"), max_size=40).map("/{}".format))
def test_any_line_gives_a_command_or_a_reason(line: str) -> None:
    assert read(line)


@given(st.sampled_from(sorted(TOOLS)), st.text(max_size=30))
def test_any_arguments_give_a_call_or_a_reason(name: str, rest: str) -> None:
    match read(f"/{name} {rest}"):
        case Call(tool, args):
            assert tool == name
            assert set(args) <= set(TOOLS[name]["properties"])
        case reason:
            assert isinstance(reason, str)
            assert reason
