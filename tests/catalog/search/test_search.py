from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import faiss
import numpy as np
import pytest

from ecom_rlve.catalog.attributes import DISCRETE
from ecom_rlve.catalog.columns.table import Catalog
from ecom_rlve.catalog.constraints import Constraint, Op, is_satisfied
from ecom_rlve.catalog.errors import IndexMismatchError
from ecom_rlve.catalog.product import Category, Product
from ecom_rlve.catalog.search.folder import Memory, SealedFolder
from ecom_rlve.catalog.search.fusion import asked_of, fused
from ecom_rlve.catalog.search.search import DEPTH, Search, SortKey, passing_rows
from ecom_rlve.catalog.search.stages import build, identity_of
from ecom_rlve.catalog.synthetic.shelf import synthetic_catalog
from ecom_rlve.catalog.vectors.index import FlatIndex, flat_index
from ecom_rlve.envs.world.shop import Shop
from ecom_rlve.streams import Streams

SIZE = 300
CASES = 500
MUGS = Category("mugs", ("Kitchen", "Mugs"), "mug", "mugs", "color")


@pytest.fixture(scope="module")
def search() -> Search:
    return Search.build(synthetic_catalog(SIZE))


def mug(number: int, **fields: object) -> Product:
    return Product(id=f"m{number}", title=f"Mug {number}", category="mugs", **fields)  # type: ignore[arg-type]  # fields of several types, checked by pydantic


def describe(catalog: Catalog, row: int, rng: np.random.Generator) -> tuple[str, list[Constraint]] | None:
    """Describe a product by type, brand and two attributes other than the variant one; None where it lacks them."""
    category, brand = catalog.category_of(row), catalog.value(row, "brand")
    known = [name for name in DISCRETE if name != category.variant_attribute and catalog.value(row, name) is not None]
    if brand is None or len(known) < 2:
        return None
    pair = [known[at] for at in rng.permutation(len(known))[:2]]
    facts = {"category": category.name, "brand": brand, **{name: catalog.value(row, name) for name in pair}}
    words = " ".join(str(value) for value in (category.singular, brand, *(facts[name] for name in pair)))
    return words, [Constraint(name, Op.EQ, str(value)) for name, value in facts.items()]


def misspell(word: str, rng: np.random.Generator) -> str:
    at, letter = int(rng.integers(len(word) - 1)), chr(ord("a") + int(rng.integers(26)))
    head, tail = word[:at], word[at + 1 :]
    return (head + letter + word[at:], head + tail, head + letter + tail, head + tail[0] + word[at] + tail[1:])[
        int(rng.integers(4))
    ]


def share_found(search: Search, typos: float, first: int) -> float:
    """Share of described products among the first results; at most 10 products fit each description."""
    rng = Streams("known items", str(typos)).stream("cases")
    found: list[bool] = []
    while len(found) < CASES:
        row = int(rng.integers(search.catalog.size))
        described = describe(search.catalog, row, rng)
        if described is None:
            continue
        fitting = passing_rows(search.catalog, described[1])
        if fitting is None or len(fitting) > 10:
            continue
        words = described[0].split()
        query = " ".join(misspell(word, rng) if len(word) >= 5 and rng.random() < typos else word for word in words)
        found.append(row in search.rank(query, None, first))
    return float(np.mean(found))


def test_described_products_are_found(big_shop: Shop) -> None:
    assert share_found(big_shop.search, 0.0, 20) >= 0.99


def test_misspelt_descriptions_find_them_too(big_shop: Shop) -> None:
    assert share_found(big_shop.search, 0.12, 20) >= 0.97


def test_fewer_results_are_the_first_of_more(search: Search) -> None:
    everything = search.rank("blue cotton throw", None, SIZE)
    assert sorted(everything.tolist()) == list(range(SIZE))
    for k in (0, 1, 5, DEPTH, DEPTH + 1, SIZE + 10):
        np.testing.assert_array_equal(search.rank("blue cotton throw", None, k), everything[:k])


def test_filtering_before_ranking_equals_the_full_ranking_of_a_small_catalog() -> None:
    search = Search.build(synthetic_catalog(DEPTH))
    rows = np.arange(0, DEPTH, 3, dtype=np.int32)
    expected = [row for row in search.rank("wooden toy", None, DEPTH) if row in rows]
    assert search.rank("wooden toy", rows, 7).tolist() == expected[:7]
    assert search.rank("wooden toy", rows[::-1], 7).tolist() == expected[:7]


def test_a_filtered_search_is_full_whatever_the_query(search: Search) -> None:
    category = search.catalog.category_of(0)
    rows = search.catalog.rows_of_category(category.name)
    found = search.rank("something else entirely", rows, 5)
    assert len(found) == min(5, len(rows))
    assert np.isin(found, rows).all()
    assert search.rank(category.singular, rows[:0], 5).tolist() == []


@pytest.mark.parametrize("query", ["", "  \t", "缶", "?!"])
def test_a_query_without_known_words_gives_rows_in_order(search: Search, query: str) -> None:
    assert search.rank(query, None, 4).tolist() == [0, 1, 2, 3]
    assert search.rank(query, np.array([9, 5, 7], dtype=np.int32), 2).tolist() == [5, 7]


@pytest.mark.parametrize("query", ["blue cotton throw", "black steel shelf", "red wool scarf for kids"])
@pytest.mark.parametrize("first", [None, 0, 20])
def test_the_nearest_and_those_with_the_words_are_ranked_by_both_and_the_others_stay(
    search: Search, query: str, first: int | None
) -> None:
    """The definition, computed in another way: every row is scored by its words and by its vector."""
    rows = np.arange(0 if first is None else first, SIZE, dtype=np.int32)
    among = None if first is None else rows
    (asked,) = asked_of(search.bags, search.embedder.encode(query), query)
    words = search.bags.scores(asked.sought, rows)
    near = search.index.search_subset(asked.vector, rows, len(rows)).tolist()
    with_words = [row for _, row in sorted(zip((-words).tolist(), rows.tolist(), strict=True))]
    head = {*near[:DEPTH], *[row for row in with_words if words[row - rows[0]]][:DEPTH]}
    joint = dict(zip(rows.tolist(), fused(asked, words, search.index.scores(asked.vector, rows)).tolist(), strict=True))
    again = sorted(head, key=lambda row: (-joint[row], row))
    tail = [row for row in near if row not in head]
    assert again[:20] != near[:20], "the vectors alone give another order"
    if among is None:
        assert search.rank(query, among, len(rows)).tolist() == again + tail
    assert search.rank(query, among, 5).tolist() == again[:5]


def test_a_title_with_more_of_the_words_goes_before_a_nearer_one_with_fewer() -> None:
    titles = ("Blue cup", "Blue blue blue cup", "Tall blue mug with a wide handle, for tea", "Green plate", "Red spoon")
    catalog = Catalog.from_products(
        [Product(id=f"m{number}", title=title, category="mugs") for number, title in enumerate(titles)], [MUGS]
    )
    search = Search.build(catalog)
    found = search.rank("blue handle tea", None, 5).tolist()
    assert found[0] == 2
    assert set(found[1:3]) == {0, 1}


class FixedEmbedder:
    """Stands in for a model: every query has the same vector."""

    dimensions = 4

    def encode(self, query: str) -> np.ndarray:
        return np.array([100, 0, 0, 0], dtype=np.float32) if query else np.zeros(4, dtype=np.float32)


def test_where_words_do_not_tell_products_apart_the_embedder_does() -> None:
    """Whatever the embedder is: here its vectors say that the last product is the best."""
    titles = ["Blue mug"] * 4 + ["Mug with a lid"]
    catalog = Catalog.from_products(
        [Product(id=f"m{at}", title=title, category="mugs") for at, title in enumerate(titles)], [MUGS]
    )
    vectors = np.array([[10 * at, 50, 0, 0] for at in range(len(titles))], dtype=np.int8)
    index = FlatIndex(faiss.serialize_index(flat_index(vectors)), catalog.fingerprint)
    parts = build(catalog, Memory(), identity_of(catalog))[0]
    search = Search(catalog, replace(parts, embedder=FixedEmbedder(), index=index))
    assert search.rank("blue mug", np.arange(4, dtype=np.int32), 4).tolist() == [3, 2, 1, 0]
    assert search.rank("something for tea", None, 5).tolist() == [4, 3, 2, 1, 0]
    assert search.rank("blue mug", None, 5).tolist() == [3, 2, 1, 0, 4], "a word tells the last one apart"


def test_several_things_take_turns(big_shop: Shop) -> None:
    search = big_shop.search

    def kinds(query: str) -> list[str]:
        return [search.catalog.category_of(int(row)).name for row in search.rank(query, None, 4)]

    assert kinds("a yoga mat and a desk lamp") == ["yoga mats", "desk lamps"] * 2


@pytest.mark.parametrize(
    "asked",
    [
        "a {thing} for the {other}",
        "{thing} with {other}",
        "a {thing} to go with my {other}",
        "for my {other}, a {thing}",
        "I'm looking for a {thing} that fits the {other}, please",
    ],
)
def test_the_thing_asked_for_comes_before_what_it_is_for(big_shop: Shop, asked: str) -> None:
    """Over random pairs of kinds; another kind of the same noun is right too."""
    search, rng = big_shop.search, Streams("things").stream("pairs", asked)
    kinds = [category for category in search.catalog.categories if category.is_kind]
    pairs = [[kinds[at] for at in rng.choice(len(kinds), 2, replace=False)] for _ in range(60)]
    shown = [
        search.catalog.category_of(row)
        for thing, other in pairs
        for row in search.rank(asked.format(thing=thing.singular, other=other.singular), None, 4).tolist()
    ]
    heads = [thing.name.split()[-1] for thing, _ in pairs for _ in range(4)]
    right = [category.name.split()[-1] == head for category, head in zip(shown, heads, strict=True)]
    assert np.mean(right) >= 0.98


def test_accessories_come_after_the_thing() -> None:
    kinds = {"watch": "watches", "watch band": "watch bands", "case": "cases"}
    categories = [Category(many, ("Shop", many), one, many, "color") for one, many in kinds.items()]
    titles = {
        "Watch band, leather, for any watch": "watch bands",
        "Case for a watch with a leather lid": "cases",
        "Leather watch": "watches",
        "Steel watch": "watches",
        "Steel watch band": "watch bands",
    }
    catalog = Catalog.from_products(
        [Product(id=f"p{at}", title=title, category=kind) for at, (title, kind) in enumerate(titles.items())],
        categories,
    )
    search = Search.build(catalog)
    assert set(search.rank("watch", None, 2).tolist()) == {2, 3}
    assert set(search.rank("watch band", None, 2).tolist()) == {0, 4}
    assert search.rank("case for my watch", None, 1).tolist() == [1]


def test_units_spelled_in_any_way_meet() -> None:
    titles = ("TV 55 inch", 'TV 65"', "TV 65 W", "Cable usb-c 2 m", "Cable usb 2 m")
    catalog = Catalog.from_products(
        [Product(id=f"p{at}", title=title, category="mugs") for at, title in enumerate(titles)], [MUGS]
    )
    search = Search.build(catalog)
    for query in ("65 inch tv", "65-inch", "65in tv"):
        assert search.rank(query, None, 1).tolist() == [1], query
    assert search.rank("usbc cable 200cm", None, 1).tolist() == [3]


def test_a_size_is_found_in_another_unit_and_not_as_a_bare_number() -> None:
    titles = ("Monitor, 27 W", "Monitor, 68.5 cm", "Monitor, 27 V, 60 cm", "Monitor, 70 cm", "Monitor 27")
    catalog = Catalog.from_products(
        [Product(id=f"p{at}", title=title, category="mugs") for at, title in enumerate(titles)], [MUGS]
    )
    assert Search.build(catalog).rank("27 inch monitor", None, 1).tolist() == [1]


def test_word_order_and_case_change_nothing(search: Search) -> None:
    np.testing.assert_array_equal(search.rank("Red wool SCARF", None, 30), search.rank("scarf red, wool", None, 30))


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("price_asc", lambda product: None if product.price_is_floor else product.price_cents),
        ("rating_desc", lambda product: None if product.rating is None else -product.rating),
        ("ship_days_asc", lambda product: product.ship_days),
    ],
)
def test_sorting_puts_unknown_last_and_breaks_ties_by_row(
    key: SortKey, value: Callable[[Product], float | None]
) -> None:
    prices, ratings = (300, None, 100, 300, 200), (4.0, 5.0, None, 4.5, 4.0)
    products = [
        mug(number, price_cents=price, price_is_floor=number == 2, rating=rating, ship_days=1 + number % 2)
        for number, (price, rating) in enumerate(zip(prices, ratings, strict=True))
    ]
    search = Search.build(Catalog.from_products(products, [MUGS]))

    def place(row: int) -> tuple[bool, float, int]:
        known = value(products[row])
        return known is None, known or 0.0, row

    for rows in (range(5), (4, 2, 0), (1,), ()):
        wanted = sorted(rows, key=place)
        for k in (0, 1, 3, 9):
            assert search.order(key, np.array(rows, dtype=np.int32), k).tolist() == wanted[:k]
    assert search.order(key, None, 4).tolist() == sorted(range(5), key=place)[:4]


def test_passing_rows_are_those_that_meet_every_constraint(search: Search) -> None:
    catalog = search.catalog
    category = catalog.category_of(3)
    brand = next(str(catalog.value(row, "brand")) for row in range(SIZE) if catalog.value(row, "brand"))
    conditions = [
        Constraint("category", Op.EQ, category.name),
        Constraint("brand", Op.EQ, brand.upper()),
        Constraint("price", Op.AT_MOST, 5_000),
        Constraint("rating", Op.AT_LEAST, 4.0),
        Constraint("stock", Op.AT_LEAST, 1),
        Constraint("color", Op.ANY_OF, ("black", "blue")),
        Constraint("brand", Op.EQ, "no such brand"),
        Constraint("ship_days", Op.EQ, 3),
        Constraint("category", Op.EQ, 3),
    ]
    for number in range(1, 2 ** len(conditions), 7):
        chosen = [condition for bit, condition in enumerate(conditions) if number >> bit & 1]
        rows = passing_rows(catalog, chosen)
        assert rows is not None
        assert rows.dtype == np.int32
        wanted = [row for row in range(SIZE) if all(is_satisfied(catalog, condition, row) for condition in chosen)]
        assert rows.tolist() == wanted
    assert passing_rows(catalog, []) is None


def pages(search: Search) -> list[list[int]]:
    return [
        search.rank(query, None, 20).tolist() for query in ("blue lamp", "wireless", "cottn shirt", "gift for kids")
    ]


def is_mapped(search: Search) -> bool:
    return isinstance(search.bags.numbers.base, np.memmap)


def test_an_opened_search_equals_the_built_one(search: Search, tmp_path: Path) -> None:
    built = Search.open_or_build(search.catalog, tmp_path / "cache")
    opened = Search.open_or_build(search.catalog, tmp_path / "cache")
    assert pages(built) == pages(opened) == pages(search)
    assert is_mapped(opened)
    assert not is_mapped(search)
    (home,) = (tmp_path / "cache").iterdir()
    assert home.name == f"search-{search.catalog.fingerprint}"


def damage(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)


def other_catalog(path: Path) -> None:
    path.write_text(path.read_text().replace('"catalog": "', '"catalog": "0'))


@pytest.mark.parametrize(
    ("file", "harm"),
    [
        ("flat.faiss", damage),
        ("bag_numbers.npy", Path.unlink),
        ("rows.npy", lambda path: path.write_bytes(b"")),
        ("manifest.json", lambda path: path.write_text("{")),
        ("manifest.json", lambda path: path.write_text("[]")),
        ("manifest.json", lambda path: path.write_text('{"digests": {}}')),
        ("manifest.json", other_catalog),
    ],
)
def test_a_cache_that_is_not_as_written_is_built_again(
    tmp_path: Path, file: str, harm: Callable[[Path], object]
) -> None:
    catalog = synthetic_catalog(40)
    fresh = pages(Search.open_or_build(catalog, tmp_path))
    (home,) = tmp_path.iterdir()
    harm(home / file)
    assert pages(Search.open_or_build(catalog, tmp_path)) == fresh
    again = Search.open_or_build(catalog, tmp_path)
    assert is_mapped(again)
    assert pages(again) == fresh
    assert list(tmp_path.iterdir()) == [home]


@pytest.mark.slow
def test_one_changed_byte_anywhere_in_a_cache_is_noticed_and_the_file_written_again(tmp_path: Path) -> None:
    """Of the same length, and of a kind that a search need not stumble over."""
    catalog = synthetic_catalog(40)
    Search.open_or_build(catalog, tmp_path)
    (home,) = tmp_path.iterdir()
    written = {path.name: path.read_bytes() for path in home.iterdir()}
    files = sorted(written.keys() - {"manifest.json"})
    assert len(files) > 5
    for number, name in enumerate(files):
        content = bytearray(written[name])
        content[(0, len(content) // 2, -1)[number % 3]] ^= 1
        (home / name).write_bytes(content)
        with pytest.raises(IndexMismatchError):
            SealedFolder(home, is_verified=True)
        assert pages(Search.open_or_build(catalog, tmp_path)) == pages(Search.build(catalog))
        assert {path.name: path.read_bytes() for path in home.iterdir()} == written, name


def test_a_cache_that_cannot_be_written_is_done_without(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    catalog = synthetic_catalog(40)
    assert pages(Search.open_or_build(catalog, blocked / "cache")) == pages(Search.open_or_build(catalog, None))
    assert blocked.read_text() == ""


def test_parts_of_different_catalogs_do_not_go_together(search: Search) -> None:
    parts = build(synthetic_catalog(40), Memory(), identity_of(synthetic_catalog(40)))[0]
    with pytest.raises(IndexMismatchError, match="not for"):
        Search(search.catalog, parts)


@pytest.mark.parametrize("gone", [(), (5,), (0, 7, 50, 333)])
def test_leaving_a_few_rows_out_is_searching_among_the_others(shop: Shop, gone: tuple[int, ...]) -> None:
    search = shop.search
    every = np.arange(0, 400, dtype=np.int32)
    for rows in (every, every[::2], every[:8]):
        others = rows[~np.isin(rows, gone)]
        for query in ("desk lamp", search.catalog.titles[7], "qqq"):
            for k in (1, 20, 300):
                assert search.rank(query, rows, k, gone).tolist() == search.rank(query, others, k).tolist()
        for k in (0, 1, 20, 500):
            assert search.order("price_asc", rows, k, gone).tolist() == search.order("price_asc", others, k).tolist()
