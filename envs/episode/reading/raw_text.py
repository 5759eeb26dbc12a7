"""A model's raw output, and the structured fields in it as the strict format reads them (SPEC §2.2).

What is no part of the action is taken off first: chat-control tokens at the end, reasoning, one code fence around the
rest. Everything here takes linear time, whatever the text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, NoReturn

from ecom_rlve.envs.errors import FormatFailureError
from ecom_rlve.models import FormatFault

MAX_TEXT = 200_000
"""Longest raw model text that is read, in characters."""
CALL_OPENS, CALL_CLOSES = "<tool_call>", "</tool_call>"

_THINK_OPENS, _THINK_CLOSES = "<think>", "</think>"
_FENCE = "```"
_LANGUAGE = re.compile(r"[a-zA-Z]*")
_BLANKS = re.compile(r"\s*")
_SURROGATE = "\\ud"
_LONGEST_TOKEN = 64
_END_TOKEN = re.compile(
    r"(?:<\|?[^<>|\s]{1,40}\|>|<｜[^<>｜\s]{1,40}｜>|\[\|[^\[\]|\s]{1,40}\|\]"
    r"|</s>|<eos>|<pad>|<end_of_(?:turn|utterance)>)\Z",
    re.IGNORECASE,
)
"""What chat templates put behind an output: ``<|im_end|>``, ``<turn|>``, ``<｜end▁of▁sentence｜>``, ``</s>`` …"""


def visible(raw: str) -> str:
    """Return an output without the tokens that end it, its reasoning and the code fence around the rest.

    Reasoning is everything up to the last ``</think>``, and from a ``<think>`` behind that on. An output that is wholly
    JSON is not searched for it, nor one that is so behind the first ``</think>``: a title may hold such a word.
    """
    text = _without_end_tokens(raw)
    for shown in _behind_reasoning(text):
        if is_json(inner := _unfenced(shown.strip())):
            return inner
    _, _, text = text.rpartition(_THINK_CLOSES)
    text, _, _ = text.partition(_THINK_OPENS)
    return _unfenced(_without_end_tokens(text).strip())


def strict_fields(text: str) -> dict[str, Any]:
    """Return the structured fields that a visible text states: a JSON object, or ``<tool_call>`` blocks amid words.

    Raises:
        FormatFailureError: it is neither.
    """
    if text.startswith("{"):
        loaded = loads(text)
        assert isinstance(loaded, dict)
        return loaded
    message, blocks = _call_blocks(text)
    if not blocks:
        raise FormatFailureError(
            "the output holds neither a JSON object nor a <tool_call> block", FormatFault.NO_ACTION
        )
    return {"assistant_message": message, "tool_calls": [loads(block) for block in blocks]}


def loads(text: str) -> Any:
    """Return the value of a JSON text.

    Raises:
        FormatFailureError: it is not JSON, or holds what is no text.
    """
    value, end = decode(text, past_blanks(text, 0))
    if past_blanks(text, end) < len(text):
        raise FormatFailureError(f"the output is not valid JSON: extra data from character {end} on")
    return value


def decode(text: str, start: int) -> tuple[Any, int]:
    """Return the JSON value that begins at ``start``, and where it ends; raises as :func:`loads`."""
    try:
        value, end = _DECODER.raw_decode(text, start)
        if _SURROGATE in text[start:end].casefold():
            # A lone half of a character is no text: nothing could be written of it.
            json.dumps(value, ensure_ascii=False).encode()
        return value, end
    except (ValueError, RecursionError) as error:
        raise FormatFailureError(f"the output is not valid JSON: {error}") from None


def past_blanks(text: str, at: int) -> int:
    """Return the place of the first character from ``at`` on that is no white space."""
    match = _BLANKS.match(text, at)
    assert match is not None
    return match.end()


def is_json(text: str) -> bool:
    """Tell whether a text is wholly one JSON object or list."""
    if text[:1] not in ("{", "["):
        return False
    try:
        loads(text)
    except FormatFailureError:
        return False
    return True


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


_DECODER = json.JSONDecoder(parse_constant=_refuse_constant)


def _behind_reasoning(text: str) -> Iterator[str]:
    """Yield what may be the output itself: all of it, and what follows its first and its last end of reasoning."""
    yield text
    _, closed, behind_first = text.partition(_THINK_CLOSES)
    if closed:
        yield behind_first
        yield text.rpartition(_THINK_CLOSES)[2]


def _without_end_tokens(text: str) -> str:
    end = len(text)
    while True:
        while end and text[end - 1].isspace():
            end -= 1
        token = _END_TOKEN.search(text, max(0, end - _LONGEST_TOKEN), end)
        if token is None:
            return text[:end]
        end = token.start()


def _unfenced(text: str) -> str:
    """Return the text inside the one code fence around it, or the text itself; in linear time, unlike a pattern."""
    opening, _, body = text.partition("\n")
    is_fenced = opening.startswith(_FENCE) and body.endswith(_FENCE)
    if not is_fenced or not _LANGUAGE.fullmatch(opening.removeprefix(_FENCE).strip()):
        return text
    return body.removesuffix(_FENCE).strip()


def _call_blocks(text: str) -> tuple[str, list[str]]:
    """Return the words around the ``<tool_call>`` blocks of a text, and what is inside each."""
    words: list[str] = []
    blocks: list[str] = []
    at = 0
    while (start := text.find(CALL_OPENS, at)) >= 0:
        end = text.find(CALL_CLOSES, start)
        if end < 0:
            raise FormatFailureError("a <tool_call> block is not closed")
        words.append(text[at:start])
        blocks.append(text[start + len(CALL_OPENS) : end])
        at = end + len(CALL_CLOSES)
    words.append(text[at:])
    return " ".join(words).strip(), blocks
