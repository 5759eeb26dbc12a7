"""The category of a product of a shop's feed, as fields of the one row shape."""

from __future__ import annotations

from collections.abc import Mapping

from ecom_rlve.catalog.rows.text import clean_text

_ROOT = "home"


def category_fields(
    paths: Mapping[str, str], labels: Mapping[str, str]
) -> tuple[dict[str, list[str] | str], dict[str, str]]:
    """Return ``categories`` or ``main_category``, and the source's name of the field that it comes from.

    The first of ``paths`` that is a path ("Shoes > Boots") gives ``categories``. If none is, the first of ``paths`` and
    ``labels`` that is a word gives ``main_category``: a single word is often a label and no category ("Indoor"), so the
    title counts more than it. Numbers (of Google's taxonomy) are ignored. A leading "Home" is left out.
    """
    for field, text in paths.items():
        path = [clean_text(element) for element in text.split(">")]
        path = [element for element in path if element]
        if len(path) > 1 and path[0].casefold() == _ROOT:
            del path[0]
        if len(path) > 1:
            return {"categories": path}, {"categories": field}
    for field, text in (*paths.items(), *labels.items()):
        label = clean_text(text.rpartition(">")[2])
        if label and not label.isdecimal():
            return {"main_category": label}, {"main_category": field}
    return {}, {}
