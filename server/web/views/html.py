"""HTML from values. Whatever is not markup already is escaped: texts come from models, feeds and visitors."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from markupsafe import Markup, escape

_VOID = {"input", "br", "hr", "meta", "link"}


def el(name: str, /, *children: object, **attributes: Any) -> Markup:
    """Return one element.

    Args:
        name: of the element.
        children: texts and markup; None and an empty text add nothing.
        attributes: a trailing underscore is dropped, other underscores are hyphens; True stands for a bare attribute,
            None and False for none.

    >>> el("p", "a < b", class_="note", data_id=3, hidden=True)
    Markup('<p class="note" data-id="3" hidden>a &lt; b</p>')
    """
    written = Markup("").join(_attribute(key, value) for key, value in attributes.items())
    if name in _VOID:
        return Markup("<{}{}>").format(Markup(name), written)
    return Markup("<{0}{1}>{2}</{0}>").format(Markup(name), written, together(children))


def together(parts: Iterable[object]) -> Markup:
    """Return texts and markup one after the other; None adds nothing."""
    return Markup("").join(escape(part) for part in parts if part is not None)


def data(value: Any) -> str:
    """Return a value as JSON for a ``data-`` attribute."""
    return json.dumps(value, ensure_ascii=False)


def note(text: str, kind: str = "note") -> Markup:
    """Return a paragraph that a screen reader tells of at once if its ``kind`` is ``problem``."""
    return el("p", text, class_=kind, role="alert" if kind == "problem" else None)


def _attribute(key: str, value: Any) -> Markup:
    if value is None or value is False:
        return Markup("")
    name = key.rstrip("_").replace("_", "-")
    return Markup(" {}").format(name) if value is True else Markup(' {}="{}"').format(name, value)
