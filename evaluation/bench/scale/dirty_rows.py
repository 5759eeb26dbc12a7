"""Rows in the layout of the Amazon-Reviews-2023 metadata, as dirty as such rows are, made from a seed.

They come in ten thousand leaf categories, a few of them large and most of them small. Row *n* of a seed is the same
whatever the number of rows. ``DIRT`` says what is wrong with which share of them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

from ecom_rlve.catalog.kinds.nouns import word_set
from ecom_rlve.catalog.synthetic.shelf import SyntheticShelf
from ecom_rlve.streams import Draws, Streams

Row = dict[str, Any]

LEAVES = 10_000
_SKEW = 3
"""A uniform number to this power chooses the leaf: the largest hundredth of them has a fifth of the rows."""
_SHARED_IDS = 500
"""So many ids stand in several rows."""
_SYLLABLES = "al bor ca del en fo gri hal is jun ka lor mi nor os pre qua ri sol ta ul ven wy zan".split()
_COLORS = "Black White Red Blue Green Grey Pink Brown Navy Beige Silver Gold".split()
_MATERIALS = "Steel Cotton Leather Wood Plastic Glass Nylon Wool Bamboo Ceramic".split()
_WORDS = (
    "made for every day with care and a soft feel it fits well in small rooms easy to clean light strong and quiet "
    "comes in one box with all parts needed works indoors and outdoors a good present for family and friends"
).split()
_FOREIGN = (
    "Robuste Küchenlampe für draußen, 2 Stück",
    "Lampe de table en verre soufflé, hauteur réglable",
    "Лампа настольная, чёрная",
    "ステンレス製 保温ボトル 500ml",
    "مصباح مكتب أسود",
)
_UNKNOWN_PRICES: tuple[object, ...] = (*[None] * 6, "None", "None", "", "—", float("nan"), 1e308, -5, True, [12.99])


def write_rows(path: Path, count: int, seed: int = 0) -> None:
    """Write the first ``count`` rows as a file of JSON lines, some of them broken; raises ``OSError``."""
    with path.open("wb") as file:
        for line in lines(count, seed):
            file.write(line + b"\n")


def lines(count: int, seed: int = 0) -> Iterator[bytes]:
    """Yield the first ``count`` rows, one line each, without the ends of the lines."""
    streams = Streams("dirty rows", seed)
    for at in range(count):
        draws = Draws(streams.stream(at))
        row = _clean_row(streams, at)
        for share, spoil in DIRT:
            if draws.uniform() < share:
                spoil(row, draws)
        yield _line(row, draws)


def _clean_row(streams: Streams, at: int) -> Row:
    draws = Draws(streams.stream("clean", at))
    path, thing = _leaves()[int(draws.uniform() ** _SKEW * LEAVES)]
    brand = "".join(draws.pick(_SYLLABLES) for _ in range(3)).capitalize()
    color, material = draws.pick(_COLORS), draws.pick(_MATERIALS)
    number = f"{int(draws.uniform() * 10_000):04}"
    sides = " x ".join(f"{2 + 20 * draws.uniform():.1f}" for _ in range(3))
    return {
        "main_category": path[0],
        "title": f"{brand} {draws.pick(_SYLLABLES).capitalize()}{number} {color} {material} {thing}",
        "average_rating": round(1 + 4 * draws.uniform(), 1),
        "rating_number": int(1 / (draws.uniform() + 1e-4)),
        "features": [f"{material} and {color.lower()}", *(_prose(draws, 18) for _ in range(4))],
        "description": [_prose(draws, 40)],
        "price": round(3 + 200 * draws.uniform() ** 3, 2),
        "images": [{"thumb": f"https://img.example/{at}_t.jpg", "large": f"https://img.example/{at}.jpg"}],
        "videos": [],
        "store": brand,
        "categories": list(path),
        "details": {
            "Brand": brand,
            "Color": color,
            "Material": material,
            "Product Dimensions": f"{sides} inches",
            "Item Weight": f"{0.2 + 9 * draws.uniform():.1f} pounds",
            "Item model number": f"{brand[:2].upper()}-{number}",
            "Date First Available": "March 1, 2020",
        },
        "parent_asin": f"X{streams.digest('id', at).hex()[:12].upper()}",
        "bought_together": None,
    }


@cache
def _leaves() -> tuple[tuple[tuple[str, ...], str], ...]:
    """Return path and name of each leaf: "Garden Desk Lamps" is one of the made-up shop, "Desk Lamps" its parent."""
    things = sorted(SyntheticShelf(LEAVES, 0).categories, key=lambda category: category.name)
    found = [
        ((*category.path, f"{word.capitalize()} {category.path[-1]}"), f"{word} {category.singular}".title())
        for word in sorted(word_set("modifiers"))
        for category in things
    ]
    return tuple(Draws(Streams("dirty rows").stream("leaves")).shuffled(found)[:LEAVES])


def _prose(draws: Draws, words: int) -> str:
    start = int(draws.uniform() * len(_WORDS))
    return " ".join((_WORDS[start:] + _WORDS * (1 + words // len(_WORDS)))[:words])


def _line(row: Row, draws: Draws) -> bytes:
    """Return a row as JSON; one that is to be broken is cut, not of UTF-8, or no object."""
    is_broken = row.pop("is_broken", False)
    line = json.dumps(row, ensure_ascii=False).encode("utf-8", "surrogatepass")
    if not is_broken:
        return line
    cut = line[: 1 + int(draws.uniform() * (len(line) - 1))]
    return draws.pick((cut, line[:-1] + b',"\xff\x81": 1}', b"[" + line + b"]", b"null", b'{"price": 1e5.3}'))


def _priced_in_words(row: Row, draws: Draws) -> None:
    price = row["price"]
    row["price"] = draws.pick(
        (f"${1000 + price:,.2f}", f"from {price}", f"{price} - {price + 10:.2f}", f"US$ {price}", f"{price}\u00a0EUR")
    )


def _unpriced(row: Row, draws: Draws) -> None:
    row["price"] = draws.pick(_UNKNOWN_PRICES)


def _with_entities(row: Row, _draws: Draws) -> None:
    row["title"] = row["title"].replace(" ", " &amp; ", 1) + " &#39;24"
    row["features"] = [f"<b>{text}</b><br />&nbsp;&lt;3" for text in row["features"]]


def _with_mojibake(row: Row, draws: Draws) -> None:
    row["title"] += draws.pick((" CafÃ©", " don¡¯t", " â€œNewâ€", " \ufffd"))
    row["store"] = row["details"]["Brand"] = f"{row['store']}Ã©"


def _foreign(row: Row, draws: Draws) -> None:
    row["title"] = draws.pick(_FOREIGN)


def _uncategorised(row: Row, draws: Draws) -> None:
    row["categories"] = draws.pick(([], None, [""], ["Sale"]))


def _in_its_own_aisle(row: Row, draws: Draws) -> None:
    """Put what is sold under a path that no other row has, as tags of shops do."""
    row["categories"] = [*row["categories"][:1], f"Aisle {int(draws.uniform() * 10**9)}", *row["categories"][-1:]]


def _long_winded(row: Row, draws: Draws) -> None:
    row["description"] = [_prose(draws, int(2_000 + 30_000 * draws.uniform()))]


def _with_details_as_text(row: Row, _draws: Draws) -> None:
    row["details"] = json.dumps(row["details"])


def _with_other_details(row: Row, draws: Draws) -> None:
    row["details"] = draws.pick((None, "None", "{'Brand': 'x'}", '{"Brand": ', ["Brand", "x"], 7, {"Brand": {"a": []}}))


def _of_other_types(row: Row, draws: Draws) -> None:
    name = draws.pick(sorted(row))
    row[name] = draws.pick((None, 10**400, float("inf"), [[["x"]]], {"a": {"b": 1}}, "\ud800", "x" * 5_000, False))


def _nameless(row: Row, draws: Draws) -> None:
    row[draws.pick(("title", "parent_asin"))] = draws.pick((None, "", "   ", "<br>"))


def _repeated_id(row: Row, draws: Draws) -> None:
    row["parent_asin"] = f"XREPEATED{int(draws.uniform() * _SHARED_IDS)}"


def _repeated_listing(row: Row, draws: Draws) -> None:
    row |= {"title": f"Plain {draws.pick(_COLORS)} Desk Lamp", "store": "Plain", "price": 9.99, "details": {}}


def _broken(row: Row, _draws: Draws) -> None:
    row["is_broken"] = True


DIRT: tuple[tuple[float, Callable[[Row, Draws], None]], ...] = (
    (0.12, _priced_in_words),
    (0.3, _unpriced),
    (0.1, _with_entities),
    (0.02, _with_mojibake),
    (0.03, _foreign),
    (0.05, _in_its_own_aisle),
    (0.3, _uncategorised),
    (0.001, _long_winded),
    (0.01, _repeated_id),
    (0.01, _repeated_listing),
    (0.2, _with_details_as_text),
    (0.005, _with_other_details),
    (0.005, _of_other_types),
    (0.005, _nameless),
    # Less than the share of rows that a build forgives.
    (0.005, _broken),
)
"""What is done to rows, in this order, each to its share of them."""
