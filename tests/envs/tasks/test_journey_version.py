"""A journey is as comparable as what it is made of: its version changes with a member's, a tool's or the answer's."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from hashlib import blake2b
from pathlib import Path
from typing import Any

import pytest

from ecom_rlve.envs.about import About
from ecom_rlve.envs.registry import environment
from ecom_rlve.envs.tasks.journey.members import MEMBERS

RECORD = Path(__file__).parents[2] / "goldens/journeys.json"
"""What the journeys of each version are made of; those of earlier versions stay as they are."""


def digest(schema: Any) -> str:
    return blake2b(json.dumps(schema, sort_keys=True).encode(), digest_size=8).hexdigest()


def made_of(journey: About, members: list[About]) -> dict[str, Any]:
    """Return what scores of journeys depend on beside the members' own drawing and judging."""
    return {
        "members": {each.id: each.version for each in members},
        "answer": digest(journey.answer_schema),
        "tools": {name: digest(tool.schema) for name, tool in journey.tools.items()},
    }


def complaint(version: str, parts: dict[str, Any], recorded: dict[str, Any]) -> str:
    """Return what is wrong with journeys of a version that are made of ``parts``, and what to do; empty: nothing."""
    entry = json.dumps(parts)
    # As text, because the order in which tools are shown counts too.
    if json.dumps(recorded.get(version)) == entry:
        return ""
    if version not in recorded:
        return f'journeys of version {version} are not recorded: add to {RECORD.name} "{version}": {entry}'
    before = recorded[version]
    changed = {
        kind: sorted(_differing(parts[kind], before[kind]))
        for kind in parts
        if json.dumps(parts[kind]) != json.dumps(before[kind])
    }
    return (
        f"journeys of version {version} were made of something else: {changed}. Give JOURNEY a new version in "
        f"envs/tasks/journey/environment.py, say in CHANGELOG.md that scores are not comparable, and add the new "
        f"version to {RECORD.name}: {entry}"
    )


def _differing(now: Any, before: Any) -> set[str]:
    if not isinstance(now, dict):
        return {now}
    return {name for name in now.keys() | before.keys() if now.get(name) != before.get(name)} or {"their order"}


def abouts() -> list[About]:
    return [each.about for each in MEMBERS]


def test_the_version_says_what_journeys_are_made_of() -> None:
    journey = environment("JOURNEY").about
    recorded = json.loads(RECORD.read_text())
    message = complaint(journey.version, made_of(journey, abouts()), recorded)
    assert not message, message
    assert list(recorded)[-1] == journey.version


CHANGES: dict[str, tuple[Callable[[About, list[About]], tuple[About, list[About]]], str]] = {
    "a member's version": (
        lambda journey, members: (journey, [replace(members[0], version="99"), *members[1:]]),
        "{'members': ['BUNDLE']}",
    ),
    "a member less": (lambda journey, members: (journey, members[1:]), "{'members': ['BUNDLE']}"),
    "a tool less": (
        lambda journey, members: (replace(journey, tool_names=journey.tool_names[1:]), members),
        "{'tools': ['catalog_search']}",
    ),
    "another order": (
        lambda journey, members: (replace(journey, tool_names=journey.tool_names[::-1]), members),
        "{'tools': ['their order']}",
    ),
    "another answer": (
        lambda journey, members: (replace(journey, answer=members[0].answer), members),
        "{'answer': ",
    ),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_change_under_the_same_version_is_named(name: str) -> None:
    change, expected = CHANGES[name]
    journey = environment("JOURNEY").about
    recorded = {journey.version: made_of(journey, abouts())}
    changed, members = change(journey, abouts())
    message = complaint(journey.version, made_of(changed, members), recorded)
    assert expected in message
    assert "new version" in message
    assert "not recorded" in complaint("99", made_of(changed, members), recorded)
    assert not complaint(journey.version, made_of(journey, abouts()), recorded)
