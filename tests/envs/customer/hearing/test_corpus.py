"""The corpora of questions: one to learn from, and one that nothing was ever tuned to (SPEC §7, Hearing)."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ecom_rlve.catalog.attributes import ATTRIBUTES
from ecom_rlve.envs.registry import environments
from ecom_rlve.envs.world.shop import Shop
from ecom_rlve.evaluation.customer.hearing import heard, read_corpus

CORPUS = Path(__file__).parent / "corpus"
LEAST = {"held_out": 40, "train": 120}
"""Phrasings of each topic, at least."""
CLASSES = {"none_open", "check_work", "unknowable", "no_question"}
"""What is no topic: open questions, whether all is right, what nobody knows, and what asks nothing."""


def entries(part: str) -> Iterator[dict[str, Any]]:
    """Yield the lines of a part."""
    for path in sorted((CORPUS / part).glob("*.jsonl")):
        yield from map(json.loads, path.read_text(encoding="utf-8").splitlines())


@pytest.mark.parametrize("part", LEAST)
def test_every_topic_is_asked_for_in_many_ways(part: str) -> None:
    counts = Counter(
        (env_id, topic) for each in entries(part) for env_id in each["env"].split("/") for topic in each["topics"]
    )
    topics = {topic for _, topic in counts}
    assert {*ATTRIBUTES, *CLASSES, "price", "brand", "rating", "ship_days"} <= topics
    # Some lines for two topics stand under one of an environment that has but one of the two.
    named = {pair: count for pair, count in counts.items() if count > LEAST[part] // 2}
    assert len(named) >= 55
    assert min(named.values()) >= LEAST[part]


@pytest.mark.parametrize("part", LEAST)
def test_every_line_is_a_question_of_its_own(part: str) -> None:
    lines = list(entries(part))
    assert len(lines) > 3000
    assert all(entry.keys() == {"env", "topics", "text", "manner"} for entry in lines)
    seen = Counter((entry["env"], tuple(entry["topics"]), entry["text"]) for entry in lines)
    assert [line for line, count in seen.items() if count > 1] == []
    known = {*environments(), "ANY"}
    assert {env_id for entry in lines for env_id in entry["env"].split("/")} <= known
    texts = (entry["text"].replace("{items}", "").replace("{item}", "") for entry in lines)
    assert [text for text in texts if not text.strip() or "{" in text or "}" in text] == []


def test_what_is_heard_is_counted_by_environment_and_topic(wide_shop: Shop, tmp_path: Path) -> None:
    asked = tmp_path / "asked.jsonl"
    questions = ({"text": "Which brand should the {item} be?"}, {"text": "Is it a gift?"})
    lines = [{"env": "PD/SUB", "topics": ["brand"], "manner": "plain", **question} for question in questions]
    other = {"env": "ANY", "topics": ["no_question"], "manner": "plain", "text": "Let me look."}
    asked.write_text("".join(f"{json.dumps(line)}\n" for line in [*lines, other]))
    tallies = heard(wide_shop, list(read_corpus(asked)))
    (tally,) = [each for (_, topic, _), each in tallies.items() if topic == "brand" and each.told]
    assert (tally.told, tally.denied) == (1, 0)
    assert sum(each.asked for each in tallies.values()) == 2


def test_a_line_of_another_shape_is_named(tmp_path: Path) -> None:
    bad = tmp_path / "bad.jsonl"
    bad.write_text('{"env": "PD", "topics": ["brand"], "text": "Which?", "manner": "plain"}\n{"env": "PD"}\n')
    with pytest.raises(ValueError, match=r"bad\.jsonl, line 2: KeyError"):
        list(read_corpus(bad))
