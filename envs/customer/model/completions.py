"""Takes a model's words out of a chat completion: checks the completion, removes thoughts, code fence and quotes."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from ecom_rlve.catalog.rows.control_tokens import without_control_tokens
from ecom_rlve.envs.customer.model.errors import EmptyAnswerError, EndpointAnswerError

_THOUGHT = re.compile(r"<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.DOTALL | re.IGNORECASE)
_THOUGHT_ENDED = re.compile(r"\A.*?</think(?:ing)?>", re.DOTALL | re.IGNORECASE)
_FENCE = "```"
_LANGUAGE = re.compile(r"[\w-]*\s*")
_QUOTES = (('"', '"'), ("“", "”"), ("'", "'"), ("«", "»"))


class Completion(NamedTuple):
    """What a model said."""

    text: str
    """Without thoughts, surrounding quotes and code fences; never empty."""
    is_whole: bool
    """False if it was cut off at ``max_tokens``."""
    tokens: int
    """Tokens of prompt and answer as counted by the endpoint; 0 if it gives no count."""


def completion_in(payload: Any) -> Completion:
    """Return the model's words in a chat completion.

    Raises :class:`EndpointAnswerError` if ``payload`` is no chat completion, and :class:`EmptyAnswerError` if it holds
    no words.
    """
    try:
        choice = payload["choices"][0]
        message = choice["message"]
        role, content = message.get("role", "assistant"), message.get("content")
        if role != "assistant" or not isinstance(content, str | None):
            raise TypeError(f"role {role!r}, content {type(content).__name__}")
    except (KeyError, IndexError, TypeError, AttributeError) as error:
        raise EndpointAnswerError(f"the answer is no chat completion: {error!r}") from None
    text = tidied(content or "")
    if not text:
        raise EmptyAnswerError("the model gave no words")
    usage = payload.get("usage") if isinstance(payload, dict) else None
    tokens = usage.get("total_tokens") if isinstance(usage, dict) else None
    is_whole = choice.get("finish_reason") != "length"
    return Completion(text, is_whole, tokens if isinstance(tokens, int) and tokens > 0 else 0)


def tidied(text: str) -> str:
    """Return a model's words in one line.

    Left out are thoughts (ended or not), chat-control tokens, and a code fence or quotes around the rest.
    """
    text = _THOUGHT.sub("", text)
    # Some chat templates put the opening tag into the prompt.
    text = without_control_tokens(_THOUGHT_ENDED.sub("", text)).strip()
    text = " ".join(_unfenced(text).split())
    for opening, closing in _QUOTES:
        inner = text[len(opening) : -len(closing)]
        if (
            len(text) > 2
            and text[0] == opening
            and text[-1] == closing
            and opening not in inner
            and closing not in inner
        ):
            return inner.strip()
    return text


def _unfenced(text: str) -> str:
    """Return what is inside the code fence around a text, or the text itself.

    Takes linear time, which a regular expression would not.
    """
    if len(text) < 2 * len(_FENCE) or not (text.startswith(_FENCE) and text.endswith(_FENCE)):
        return text
    inner = text[len(_FENCE) : -len(_FENCE)]
    first, newline, rest = inner.partition("\n")
    return rest if newline and _LANGUAGE.fullmatch(first) else inner
