"""What a server tells of its environments: all that evaluation knows of them."""

from __future__ import annotations

from collections.abc import Mapping

import httpx
from pydantic import TypeAdapter

from ecom_rlve.models import EnvironmentInfo

_INFOS = TypeAdapter(list[EnvironmentInfo])


def listed_at(url: str, headers: Mapping[str, str] | None = None) -> dict[str, EnvironmentInfo]:
    """Return the environments of a server by id, in id order; raises ``httpx.HTTPError`` where it does not answer."""
    # The first answer looks how far the catalog reaches, which takes its time for a large one.
    answer = httpx.get(f"{url}/envs", headers=headers, trust_env=False, timeout=60).raise_for_status()
    return {each.env_id: each for each in _INFOS.validate_json(answer.content)}
