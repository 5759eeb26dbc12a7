"""Answers as JSON texts, made once: what is stored for a repeated request id is what was sent, byte for byte."""

from __future__ import annotations

import json
from collections.abc import Iterable
from hashlib import blake2b
from math import isfinite
from typing import Any

from pydantic import TypeAdapter

from ecom_rlve.models import Observation, SaidAct
from ecom_rlve.server.errors import AnswerError
from ecom_rlve.server.runs.runs import Begun

_ACTS = TypeAdapter(list[SaidAct])


def answer_text(observation: Observation, metadata: str) -> str:
    """Return the JSON text of an answer; ``metadata`` is JSON already.

    Raises:
        AnswerError: a number of it is not finite.
        PydanticSerializationError: a value of it is not plain JSON.
    """
    reward, result = observation.reward, observation.result
    numbers = (reward or 0.0,) if result is None else (reward or 0.0, result.r_task, result.r_eff, result.r_hall)
    if not all(map(isfinite, numbers)):
        raise AnswerError("a reward is not finite")
    told = "null" if reward is None else repr(float(reward))
    done = "true" if observation.done else "false"
    return f'{{"observation":{_text_of(observation)},"reward":{told},"done":{done},"metadata":{metadata}}}'


def metadata_with_acts(metadata: str, acts: Iterable[SaidAct]) -> str:
    """Return the JSON text of an episode's metadata with the customer's latest acts in it."""
    return f'{metadata[:-1]},"acts":{_ACTS.dump_json(list(acts)).decode()}}}'


def metadata_in_run(metadata: str, run_id: str, group_id: str | None, begun: Begun) -> str:
    """Return the JSON text of an episode's metadata with its run in it, whether it counts, and its place in a group."""
    told: dict[str, Any] = {"run_id": run_id, "counts": begun.entry is not None}
    if begun.why_uncounted is not None:
        told["why_uncounted"] = begun.why_uncounted
    if begun.member is not None:
        told |= {"group_id": group_id, "group_member": begun.member}
    return f"{metadata[:-1]},{json.dumps(told)[1:]}"


def digest_of(body: Any) -> bytes:
    """Return 16 bytes by which equal JSON values are known."""
    return blake2b(json.dumps(body, sort_keys=True).encode(), digest_size=16).digest()


def digest_of_text(text: str) -> bytes:
    """Return 16 bytes by which equal texts are known."""
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def _text_of(observation: Observation) -> str:
    # Pydantic's own serializer object, which its documentation does not name: ``model_dump_json`` hands it twenty
    # options one by one, which costs as much as encoding a short observation does.
    return Observation.__pydantic_serializer__.to_json(observation, exclude_unset=True).decode()
