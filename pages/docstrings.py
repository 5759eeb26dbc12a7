"""How the site reads docstrings: roles (``:class:`X```) become code, and examples of Python blocks of it."""

from __future__ import annotations

import re
from typing import Any

import griffe

_ROLE = re.compile(r":(?:class|func|meth|mod|attr|data|exc):`~?(?P<path>[\w.]+)`")
_EXAMPLE = re.compile(r"^>{3} .*(?:\n.+)*", re.MULTILINE)
"""A prompt, and all up to the next empty line."""


class Docstrings(griffe.Extension):
    """Makes Markdown of a docstring."""

    def on_object(self, *, obj: Any, **_: Any) -> None:
        """Rewrite the docstring of one module, class, function or attribute."""
        if obj.docstring is not None:
            obj.docstring.value = markdown(obj.docstring.value)


def markdown(text: str) -> str:
    """Return a docstring as Markdown: names of the package as code, examples as blocks of a Python prompt."""
    named = _ROLE.sub(lambda role: f"`{role['path'].rpartition('.')[2]}`", text)
    return _EXAMPLE.sub(lambda example: f"```pycon\n{example[0]}\n```", named)
