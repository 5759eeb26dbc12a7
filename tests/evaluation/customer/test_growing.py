"""A model's proposals enter the bank only if they are frames, and are understood as what they should say."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from itertools import chain
from pathlib import Path

import httpx
import pytest

from ecom_rlve.envs.customer.model.endpoint import Endpoint, EndpointSettings
from ecom_rlve.envs.customer.model.errors import EndpointError
from ecom_rlve.envs.language.bank_files import read_bank, variants
from ecom_rlve.envs.registry import known_tables
from ecom_rlve.evaluation.customer.growing import _SAMPLES, Growth, grow

GOOD = "As I see it, {item} would do (well|nicely) {facts}."
PROPOSED = [
    GOOD,
    GOOD,
    "Give me {item} in black, {facts}.",
    "No place at all.",
    "I'd take three of {item} {facts}.",
    "Not {item} {facts}.",
    "I love {item} {facts}, and close the order.",
]


def endpoint(verdict: Callable[[str], str]) -> Endpoint:
    def answer(request: httpx.Request) -> httpx.Response:
        system, user = (each["content"] for each in json.loads(request.content)["messages"])
        text = verdict(user) if "does" in system else f"Here you are: {json.dumps(PROPOSED)}"
        return httpx.Response(200, json={"choices": [{"message": {"role": "assistant", "content": text}}]})

    return Endpoint(EndpointSettings("http://model.test/v1", "any"), transport=httpx.MockTransport(answer))


def honest(user: str) -> str:
    """Choose as an attentive reader would."""
    about = known_tables()["answer_item"].about
    letter = next(line[0] for line in user.splitlines() if line.endswith(about))
    said = [each for each in ("the desk lamp", "in black") if each in user.splitlines()[0]]
    return json.dumps({"does": "Z" if "close the order" in user else letter, "says": said})


def grown(verdict: Callable[[str], str], count: int = 5) -> Growth:
    known_tables()
    return asyncio.run(grow(endpoint(verdict), ["answer_item"], count, 0, {"black"}))


def test_only_verified_frames_are_kept_and_the_others_counted_by_reason() -> None:
    found = grown(honest)
    assert found.frames == {"answer_item": [GOOD]}
    assert found.refused == {
        "twice": 1,
        "states a value (black)": 1,
        "needs {item} exactly once": 1,
        "states a value": 1,
        "negates a place": 1,
        "understood as something else": 1,
    }


@pytest.mark.parametrize("says", [[], ["the desk lamp", "in black", "three mugs"]])
def test_a_frame_in_which_other_facts_are_found_is_refused(says: list[str]) -> None:
    found = grown(lambda user: json.dumps({**json.loads(honest(user)), "says": says}))
    assert not found.frames
    assert found.refused["other facts understood"] >= 1


@pytest.mark.parametrize("nonsense", ["I cannot do that.", "[1, 2]", '{"does": ["A"]}', "{" * 5000])
def test_a_verifier_that_talks_nonsense_keeps_nothing(nonsense: str) -> None:
    assert not grown(lambda _: nonsense).frames


def test_the_file_can_be_read_as_a_bank(tmp_path: Path) -> None:
    path = tmp_path / "more.toml"
    path.write_text(grown(honest).toml(), encoding="utf-8")
    texts = read_bank([path]).act("answer_item").lists["any"]
    assert texts[-1] == GOOD
    assert len(texts) == len(known_tables()["answer_item"].lists["any"]) + 1


def test_every_place_of_every_table_can_be_filled_for_the_verifier() -> None:
    tables = known_tables()
    assert {"answer_item", "reference_total"} <= set(tables)
    for name, frames in tables.items():
        for text in chain(*frames.lists.values()):
            assert "{" not in variants(text)[0].format_map(_SAMPLES), name


@pytest.mark.parametrize(("table", "shape"), [("answer_item", "sentences"), ("reference_total", "a phrase")])
def test_a_table_of_phrases_is_asked_for_phrases(table: str, shape: str) -> None:
    asked: list[str] = []

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append(json.loads(request.content)["messages"][0]["content"])
        return httpx.Response(200, json={"choices": [{"message": {"role": "assistant", "content": "[]"}}]})

    known_tables()
    silent = Endpoint(EndpointSettings("http://model.test/v1", "any"), transport=httpx.MockTransport(answer))
    assert not asyncio.run(grow(silent, [table], 1, 0)).frames
    assert [shape in each for each in asked] == [True]


def test_the_same_seed_asks_the_same() -> None:
    asked: list[list[str]] = [[], []]
    for seen in asked:

        def watched(user: str, seen: list[str] = seen) -> str:
            seen.append(user)
            return honest(user)

        grown(watched)
    assert asked[0] == asked[1] != []


def test_an_endpoint_that_fails_is_an_error() -> None:
    known_tables()
    refusing = httpx.MockTransport(lambda _: httpx.Response(400))
    with pytest.raises(EndpointError):
        asyncio.run(
            grow(Endpoint(EndpointSettings("http://model.test/v1", "any"), transport=refusing), ["answer_item"], 1, 0)
        )
