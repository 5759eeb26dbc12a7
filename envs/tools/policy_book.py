"""Tools that read the store's policy book and its date."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from ecom_rlve.envs.errors import DomainError
from ecom_rlve.envs.policy.search import ranked_sections
from ecom_rlve.envs.tools.tool import Args, Tool
from ecom_rlve.envs.world.cards import shortened
from ecom_rlve.envs.world.world import World
from ecom_rlve.models import DomainCode

_RESULTS = 10
_SNIPPET = 70
_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


class SearchPoliciesArgs(Args):
    """Arguments of ``policy_search``."""

    query: str = Field(min_length=1, max_length=400)


class GetSectionArgs(Args):
    """Arguments of ``policy_get``."""

    section_id: str = Field(max_length=64)


class NowArgs(Args):
    """``datetime_now`` takes none."""


def _search(world: World, args: SearchPoliciesArgs) -> dict[str, Any]:
    if not args.query.strip():
        raise DomainError(DomainCode.EMPTY_QUERY, "say in words what the policy should be about")
    found = ranked_sections(world.book, args.query)
    shown = [
        {"section_id": section.id, "title": section.title, "snippet": shortened(section.text, _SNIPPET)}
        for section in found[:_RESULTS]
    ]
    return {"results": shown, "total": len(found)}


def _get(world: World, args: GetSectionArgs) -> dict[str, Any]:
    section = world.book.section_by_id.get(args.section_id)
    if section is None:
        raise DomainError(DomainCode.UNKNOWN_SECTION, "no section has this id; use ids that policy_search shows")
    world.sections_read.add(section.id)
    return {"section_id": section.id, "title": section.title, "text": section.text}


def _now(world: World, _: NowArgs) -> dict[str, Any]:
    return {"date": world.today.isoformat(), "weekday": _WEEKDAYS[world.today.weekday()]}


POLICY_SEARCH = Tool(
    "policy_search", "Find sections of the policy book: titles and snippets.", SearchPoliciesArgs, _search
)
POLICY_GET = Tool("policy_get", "Read one section of the policy book.", GetSectionArgs, _get)
DATETIME_NOW = Tool("datetime_now", "Tell the store's date.", NowArgs, _now)
