"""What a person types, read into commands: never a crash, never a call that the server cannot read."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ecom_rlve.evaluation.terminal.typed.arguments import CommandError, hint, read_value
from ecom_rlve.evaluation.terminal.typed.commands import Call, Explain, Say, Submit, Word, parse
from ecom_rlve.evaluation.terminal.typed.suggesting import of_commands

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
        "properties": {
            "query": {"type": "string"},
            "product_ids": {"type": "array", "items": {"type": "string"}, "maxItems": 3},
        },
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
        ("/undo", Word("undo")),
        ("?", Word("help")),
        ("?search", Explain("catalog_search")),
        ("? /cart_add", Explain("cart_add")),
        ("/done", Submit(None, True)),
        ('/done {"value": 3}', Submit({"value": 3}, True)),
        ('/propose {"recommended_product_ids": ["a"]}', Submit({"recommended_product_ids": ["a"]}, False)),
        ("/search", Call("catalog_search", {}, is_half=True)),
        ("/add", Call("cart_add", {}, is_half=True)),
        ("/add --quantity 2", Call("cart_add", {"quantity": 2}, is_half=True)),
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
        ("/add P1 V2 3 4", "too many words"),
        ("/add P1 --quantity 0", "from 1 to"),
        ('/add {"product_id": "P1", "quantity": "2"}', "whole number"),
        ('/add {"product_id": "P1", "quantity": true}', "whole number"),
        ('/add {"product": "P1"}', "no argument product; did you mean product_id"),
        ("/add " + "x" * 65, "from 0 to 64 characters"),
        ('/rerank {"query": "mug", "product_ids": [1]}', "each of product_ids must be text"),
        ("/rerank mug --product_ids a,b,c,d", "from 0 to 3 items"),
        ('/add {"product_id": "P1", "colour": 1}', "no argument colour"),
        ("/add {", "not JSON"),
        ("/done x", "not JSON"),
        ("/done [1]", "object"),
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
        case Call(tool, args, is_half=_):
            assert tool == name
            assert set(args) <= set(TOOLS[name]["properties"])
        case reason:
            assert isinstance(reason, str)
            assert reason


@pytest.mark.parametrize(
    ("schema", "said"),
    [
        ({"type": "number", "minimum": 0}, "a number, at least 0"),
        ({"type": "boolean", "default": False}, "yes or no; default no"),
        ({"type": ["number", "string"]}, "a number or text"),
        ({"type": "array", "items": {"type": "string"}}, "a list, with commas between"),
    ],
)
def test_an_argument_is_described(schema: dict[str, Any], said: str) -> None:
    assert hint(schema) == said


@pytest.mark.parametrize(("text", "value"), [("3", 3.0), ("2025-03-01", "2025-03-01"), ("1e999", "1e999")])
def test_a_number_or_text_is_a_number_where_it_can_be(text: str, value: object) -> None:
    assert read_value("value", text, {"type": ["number", "string"]}) == value


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("/se", ["/search", "/send"]),
        ("/add P", ["P1"]),
        ("/search mug --pri", ["--price_max"]),
        ("/search mug --sort p", ["price_asc"]),
        ("/rerank --product_ids P1,P", ["P1", "P1x"]),
        ("what about P", []),
    ],
)
def test_what_may_follow_is_suggested(text: str, words: list[str]) -> None:
    ids = {"P1": "Mug"} | ({"P1x": "Cup"} if "," in text else {})
    assert [each.word for each in of_commands(text, TOOLS, ids)] == words
