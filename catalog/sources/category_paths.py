"""The category of a product of a shop's feed, as fields of the one row shape."""

from __future__ import annotations

from collections.abc import Mapping

from ecom_rlve.catalog.kinds.google_taxonomy import google_path
from ecom_rlve.catalog.kinds.leaf_categories import leaf_of_path
from ecom_rlve.catalog.rows.text import clean_text

_ROOT = "home"


def category_fields(
    paths: Mapping[str, str], labels: Mapping[str, str]
) -> tuple[dict[str, list[str] | str], dict[str, str]]:
    """Return ``categories`` or ``main_category``, and the source's name of the field that it comes from.

    Of ``paths`` ("Shoes > Boots", or a number of Google's taxonomy) the first that names a thing gives ``categories``,
    or else the first. If there is none, the first of ``paths`` and ``labels`` that is a word gives ``main_category``.
    A leading "Home" is left out. Shops also tag what a product goes well with, so no source gives its tags here.
    """
    read = {field: path for field, text in paths.items() if len(path := _path(text)) > 1}
    chosen = next((field for field, path in read.items() if leaf_of_path(path)), next(iter(read), None))
    if chosen is not None:
        return {"categories": read[chosen]}, {"categories": chosen}
    for field, text in (*paths.items(), *labels.items()):
        label = clean_text(text.rpartition(">")[2])
        if label and not label.isdecimal():
            return {"main_category": label}, {"main_category": field}
    return {}, {}


def _path(text: str) -> list[str]:
    known = google_path(text.strip())
    if known:
        return list(known)
    path = [element for element in map(clean_text, text.split(">")) if element]
    return path[1:] if len(path) > 1 and path[0].casefold() == _ROOT else path
