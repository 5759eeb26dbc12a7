"""The checker of messages: what a person might say passes, remains of templates, names and ids do not."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from ecom_rlve.catalog.errors import UnknownProductError
from ecom_rlve.envs.contract.messages import check_clean
from ecom_rlve.envs.errors import EnvironmentFaultError


@pytest.fixture
def episode() -> Any:
    """What is read of an episode: the ids of a product, of an order and of its line."""

    def row_of(name: str) -> int:
        if name != "B0LAMP01":
            raise UnknownProductError(name)
        return 0

    order = SimpleNamespace(order_id="O-77777", lines=[SimpleNamespace(line_id="L-88888")])
    world = SimpleNamespace(orders=[order], shop=SimpleNamespace(catalog=SimpleNamespace(row_of=row_of)))
    return SimpleNamespace(intent=SimpleNamespace(world=world))


@pytest.mark.parametrize(
    "text",
    [
        "I need a lamp.",
        "Which one?",
        "Great!",
        'It was called "Lamp {2}, color_x None".',
        'I said "the lamp."',
        "It is the lamp (the blue one.)",
        "The one I shouldn't name, nonetheless.",
        f"{'a' * 3999}.",
    ],
)
def test_what_a_person_might_say_passes(episode: Any, text: str) -> None:
    check_clean(text, episode, "PD")
    with pytest.raises(EnvironmentFaultError, match="PD: this is no sentence"):
        check_clean(f" {text}", episode, "PD")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("I need a {item}.", "says '{'"),
        ("I need None.", "says 'None'"),
        ("I need  a lamp.", "says '  '"),
        ("A lamp , please.", "says ' ,'"),
        ("The the lamp.", "says 'the the'"),
        ("Its screen size is 5..", r"says '\.\.'"),
        ("I want ship days by ship_days.", "says '_'"),
        ("It is B0LAMP01.", "says the id 'B0LAMP01'"),
        ("It is b0lamp01.", "says the id 'b0lamp01'"),
        ("My order is O-77777.", "says the id 'O-77777'"),
        ("My line is l-88888.", "says the id 'l-88888'"),
        ("I need a lamp. ", "this is no sentence"),
        ("I need a lamp", "this is no sentence"),
        ("I need a lamp,", "this is no sentence"),
        (f"{'a' * 4000}.", "this is no sentence of at most 4000 letters"),
    ],
)
def test_what_no_person_would_say_is_a_fault(episode: Any, text: str, message: str) -> None:
    with pytest.raises(EnvironmentFaultError, match=message):
        check_clean(text.replace("The the", "It is the the"), episode, "PD")
