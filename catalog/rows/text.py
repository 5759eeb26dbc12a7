"""Product texts made fit to show: without markup, control tokens, entities and odd spaces, and otherwise unchanged."""

from __future__ import annotations

import re

from ecom_rlve.catalog.rows.control_tokens import without_control_tokens
from ecom_rlve.catalog.shop_words.entities import decoded

MAX_TITLE = 200
"""Longest title shown, in characters."""

# Not html.parser: Python versions differ in what it makes of broken markup, and a product must be the same everywhere.
_HIDING = re.compile(r"<(script|style)\b|<!--", re.IGNORECASE)
_SHOWING = {
    "": re.compile("-->"),
    **{name: re.compile(rf"</{name}\s*>", re.IGNORECASE) for name in ("script", "style")},
}
_TAG = re.compile(r"</?[a-z][a-z0-9]*(?:\s[^<>]*)?/?>|<![a-z][^<>]*>", re.IGNORECASE)
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1f\x7f\u200b\u2060\ufeff]")
# UTF-8 or GBK bytes that were read as Latin-1 leave letters and signs in sequences that no language writes.
_MOJIBAKE = re.compile("\ufffd|[\x80-\x9f]|[\xc2\xc3][\x80-\xbf]|â€|[\xa1-\xbf]{2}|ï¼|ã€")
_BEYOND_LATIN = re.compile("[^\x00-\u024f\u2010-\u2033\u2122]")


def clean_text(raw: str) -> str:
    """Return the text without markup and chat-control tokens, entities decoded, white space collapsed.

    Lone surrogates become ``?``.

    >>> clean_text("<p>Soft &amp; warm</p>  < 2 kg")
    'Soft & warm < 2 kg'
    """
    text = without_control_tokens(decoded(raw))
    text = _TAG.sub(" ", _without_hidden(text))
    text = _CONTROL.sub("", text).encode("utf-8", "replace").decode()
    # Once more: what went before may have stood between the parts of a token.
    return " ".join(without_control_tokens(text).split())


def _without_hidden(text: str) -> str:
    """Return the text with a blank for each script, style and comment that ends.

    One expression would look for each end again and again: the time would grow with the square of
    the number of openings, to a quarter of an hour for a megabyte.
    """
    parts: list[str] = []
    endless: set[str] = set()
    kept_from = at = 0
    while found := _HIDING.search(text, at):
        kind = (found[1] or "").casefold()
        end = None if kind in endless else _end_of_hidden(text, kind, found.end())
        if end is None:
            endless.add(kind)
            at = found.end()
        else:
            parts.append(text[kept_from : found.start()])
            kept_from = at = end
    return " ".join([*parts, text[kept_from:]])


def _end_of_hidden(text: str, kind: str, start: int) -> int | None:
    opened = text.find(">", start) + 1 if kind else start
    end = _SHOWING[kind].search(text, opened) if opened or not kind else None
    return end.end() if end else None


def cap_title(title: str) -> str:
    """Return the title cut at a word boundary to at most ``MAX_TITLE`` characters, including the mark of the cut."""
    if len(title) <= MAX_TITLE:
        return title
    head = title[: MAX_TITLE - 1]
    if not title[MAX_TITLE - 1].isspace():
        head = head.rpartition(" ")[0] or head
    return head.rstrip(" ,;:-–—|(") + "…"


def is_mojibake(text: str) -> bool:
    """Say whether a text looks like bytes that were decoded wrongly: "don¡¯t", "cafÃ©"."""
    return bool(_MOJIBAKE.search(text))


def is_latin(text: str) -> bool:
    """Say whether a text consists of Latin letters and common signs only."""
    return not _BEYOND_LATIN.search(text)
