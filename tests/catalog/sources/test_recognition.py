"""Files of every format and packing, told by their content: what they give, and what a wrong one is told."""

from __future__ import annotations

import gzip
import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ecom_rlve.catalog.errors import SourceError
from ecom_rlve.catalog.product import Product
from ecom_rlve.catalog.sources import DropReason, SourceReport, lines, open_catalog, row_source
from ecom_rlve.catalog.sources.files.json_values import values_of

_AMAZON = [{"parent_asin": f"A{at}", "title": f"Red mug {at}", "price": "9.99"} for at in range(3)]


def products(path: Path, content: str | bytes, currency: str | None = "USD") -> list[Product]:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    catalog, _ = open_catalog(str(path), currency=currency)
    return [catalog.product(row) for row in range(catalog.size)]


def variants(product: Product) -> list[tuple[Any, ...]]:
    return [(*each.values.values(), each.price_cents, each.stock) for each in product.variants]


_JSON_LAYOUTS: list[Callable[[list[dict[str, Any]]], str]] = [
    lambda rows: "\n".join(map(json.dumps, rows)),
    lambda rows: "\n\n".join(json.dumps(row, indent=1) for row in rows),
    json.dumps,
    lambda rows: json.dumps(rows, indent=2),
    lambda rows: json.dumps({"products": rows}),
    lambda rows: json.dumps({"items": rows}, indent=4),
    lambda rows: "".join(map(json.dumps, rows)),
]


@pytest.mark.parametrize("layout", range(len(_JSON_LAYOUTS)))
@pytest.mark.parametrize("name", ["a.jsonl", "a.json", "a.txt", "export"])
def test_json_is_read_in_any_layout_under_any_name(tmp_path: Path, layout: int, name: str) -> None:
    found = products(tmp_path / name, _JSON_LAYOUTS[layout](_AMAZON), None)
    assert [(each.id, each.price_cents, each.currency) for each in found] == [(f"A{at}", 999, "USD") for at in range(3)]


@pytest.mark.parametrize("layout", [0, 3])
def test_a_broken_object_is_listed_and_the_others_are_read(tmp_path: Path, layout: int) -> None:
    path = tmp_path / "a.json"
    path.write_text(_JSON_LAYOUTS[layout](_AMAZON).replace('"Red mug 1"', '"Red mug'))
    catalog, report = open_catalog(str(path))
    assert list(catalog.ids) == ["A0", "A2"]
    assert report.dropped == {DropReason.UNREADABLE: 1}
    assert f"{path}, line " in report.faults[0]
    with pytest.raises(SourceError, match=r"1 of 3 rows cannot be read.*a\.json, line \d+: not JSON"):
        open_catalog(str(path), max_bad=0)


@pytest.mark.parametrize("indent", [None, 1])
def test_blocks_may_cut_a_value_anywhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, indent: int | None) -> None:
    rows = [
        {"parent_asin": f"A{at}", "title": f'Mug "é" \\ {at}', "price": at / 8, "x": [True, None]} for at in range(40)
    ]
    path = tmp_path / "a.json"
    path.write_text(json.dumps(rows, indent=indent))
    for size in (1, 2, 3, 7, 50):
        monkeypatch.setattr(lines, "_BLOCK_CHARS", size)
        assert [value.row for value in values_of(path, 10_000)] == rows


_HEADER = "Handle,Title,Vendor,Option1 Name,Option1 Value,Variant Price"
_CSV = f"{_HEADER}\ncup,Café Cup,Maison,Size,Small,9.50\ncup,,,,Large,12.00\nmug,Plain Mug,Maison,,,7.00\n"


@pytest.mark.parametrize("before", [0, 2**20])
def test_half_a_character_in_a_wide_json_file_spoils_nothing_else(tmp_path: Path, before: int) -> None:
    """Whether it stands where the encoding is looked for, or far behind."""
    titles = ["x" * 99] * (before // 99) + ["Half \ud800 lamp", "Red lamp"]
    text = ",\n".join(json.dumps({"title": title}, ensure_ascii=False) for title in titles)
    path = tmp_path / "products.json"
    path.write_bytes(f"\ufeff[\n{text}\n]".encode("utf-16-le", "surrogatepass"))
    *_, half, red = values_of(path, 10_000)
    assert (half.row, red.row) == ({"title": "Half \ufffd lamp"}, {"title": "Red lamp"})


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "cp1252"])
@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_tables_of_any_delimiter_and_encoding_are_read(tmp_path: Path, encoding: str, delimiter: str, end: str) -> None:
    found = products(tmp_path / "a.csv", _CSV.replace(",", delimiter).replace("\n", end).encode(encoding))
    assert [(each.id, each.title, each.price_cents) for each in found] == [
        ("cup", "Café Cup", 950),
        ("mug", "Plain Mug", 700),
    ]
    assert variants(found[0]) == [("small", 950, None), ("large", 1200, None)]


def _zipped(content: bytes, *others: str) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("export/data.csv", content)
        for name in others:
            archive.writestr(name, "text")
    return stream.getvalue()


@pytest.mark.parametrize(
    "pack",
    [
        gzip.compress,
        _zipped,
        lambda data: _zipped(data, "__MACOSX/x", "README.md"),
        lambda data: _zipped(gzip.compress(data)),
    ],
)
@pytest.mark.parametrize("name", ["a.csv", "a.csv.gz", "a.zip"])
def test_packed_files_are_unpacked_whatever_they_are_called(
    tmp_path: Path, pack: Callable[[bytes], bytes], name: str
) -> None:
    assert [each.id for each in products(tmp_path / name, pack(_CSV.encode()))] == ["cup", "mug"]


def test_packed_parquet_is_read(tmp_path: Path) -> None:
    pq.write_table(pa.Table.from_pylist(_AMAZON), tmp_path / "plain.parquet")
    content = gzip.compress((tmp_path / "plain.parquet").read_bytes())
    assert [each.id for each in products(tmp_path / "a.gz", content, None)] == ["A0", "A1", "A2"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"%PDF-1.7", "looks like a PDF document"),
        (b"<html><body>Log in", "looks like a web page, perhaps of an error or a login; fetch the feed"),
        (_zipped(b"", "[Content_Types].xml"), "looks like a workbook .* save the sheet as CSV"),
        (_zipped(b"a", "b.csv"), r"an archive of 2 files \(export/data.csv, b.csv\), .* unpack it and give that file"),
        (bytes(range(1, 30)) * 40, "looks like no text"),
        (b" \n", "the file is empty"),
        (b"PK\x03\x04broken", "the packed data is broken or cut off"),
        (b"color,mass\nred,5\n", r"looks like a table with 2 fields \(color, mass\).*catalog map .*add --map map.toml"),
        (b'{"color": 1}', r"looks like JSON objects with 1 fields \(color\)"),
        (b'{"id": 1, "name": "x", "subCategories": []}', "holds a tree of categories"),
    ],
)
def test_a_file_that_is_no_source_is_told_what_it_looks_like(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(content)
    with pytest.raises(SourceError, match=f"(?s)a.csv: .*{message}"):
        open_catalog(str(path))


def test_a_hint_of_the_delimiter_is_no_header(tmp_path: Path) -> None:
    assert [each.id for each in products(tmp_path / "a.csv", "sep=;\r\n" + _CSV.replace(",", ";"))] == ["cup", "mug"]


def test_an_unclosed_quote_costs_its_own_record_only(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text(
        _CSV + 'lost,"Lost Mug,Maison,,,7.00\n' + 'kept,"Kept, Mug",Maison,,,7.00\nlast,Last Mug,Maison,,,7.00'
    )
    catalog, report = open_catalog(str(path), currency="USD", max_bad=0.5)
    assert list(catalog.ids) == ["cup", "mug", "kept", "last"]
    assert "line 5: broken quoting or a record cut off" in report.faults[0]


_WOO = """ID,Type,SKU,Name,Published,"In stock?",Stock,"Sale price","Regular price",Categories,Parent,\
"Attribute 1 name","Attribute 1 value(s)"
46,variation,tee-sand,"Tee - Sand",1,1,3,15,18,,tee,Colour,Sand
44,variable,tee,"Basic Tee",1,1,,,,"Sale, Clothing > T-Shirts",,Colour,"Teal, Sand"
47,simple,cap,"Wool Cap",-1,1,2,,22,,,,
48,simple,hat,"Straw Hat",1,0,,,22,,,,
45,variation,tee-teal,"Tee - Teal",1,1,5,,18,,id:44,Colour,Teal
49,variation,tee-red,"Tee - Red",0,1,5,,18,,tee,Colour,Red
"""


def test_woocommerce_variations_are_variants_wherever_they_stand(tmp_path: Path) -> None:
    found = {each.id: each for each in products(tmp_path / "a.csv", _WOO)}
    assert found.keys() == {"44", "48"}
    assert variants(found["44"]) == [("sand", 1500, 3), ("teal", 1800, 5)]
    assert (found["44"].price_cents, found["44"].price_is_floor, found["44"].category) == (1500, True, "t-shirts")
    report = open_catalog(str(tmp_path / "a.csv"), currency="EUR")[1]
    assert report.dropped == {DropReason.DRAFT: 1, DropReason.UNPUBLISHED: 1, DropReason.CONTINUATION: 2}


def test_a_number_of_thousands_of_digits_is_no_stock(tmp_path: Path) -> None:
    digits = "9" * 5_000
    found = {each.id: each for each in products(tmp_path / "a.csv", _WOO.replace("1,1,3,15", f"1,1,{digits},15"))}
    assert variants(found["44"]) == [("sand", 1500, None), ("teal", 1800, 5)]


def test_shopify_s_products_json_gives_products_with_variants(tmp_path: Path) -> None:
    product = {
        "id": 7,
        "title": "Winter Boots",
        "handle": "boots",
        "body_html": "<p>Warm</p><ul><li>Leather</li></ul>",
        "vendor": "Acme",
        "product_type": "Shoes",
        "tags": ["new"],
        "published_at": "2026-01-01",
        "options": [{"name": "Size", "position": 1}, {"name": "Color", "position": 2}],
        "variants": [
            {"option1": "S", "option2": "Red", "price": "59.00", "available": True, "grams": 900},
            {"option1": "L", "option2": "Red", "price": "65.00", "available": False, "grams": 900},
        ],
    }
    hidden = product | {"handle": "hidden", "published_at": None}
    (boots,) = products(tmp_path / "a.json", json.dumps({"products": [product, hidden]}))
    assert (boots.id, boots.category, boots.brand, boots.features) == ("boots", "boots", "Acme", ("Leather",))
    assert variants(boots) == [("small", 5900, None), ("large", 6500, 0)]
    assert boots.attributes["weight"] == 900.0


def test_best_buy_products_are_read(tmp_path: Path) -> None:
    row: dict[str, Any] = {
        "sku": 43900,
        "name": "Batteries",
        "price": 5.49,
        "manufacturer": "Acme",
        "category": [{"id": "1", "name": "Home"}],
    }
    (found,) = products(
        tmp_path / "a.json", json.dumps([row | {"category": [*row["category"], {"name": "Batteries"}]}])
    )
    assert (found.id, found.price_cents, found.brand) == ("43900", 549, "Acme")


@pytest.mark.parametrize("kind", ["tsv", "json", "xml"])
def test_items_of_a_group_are_one_product_with_variants(tmp_path: Path, kind: str) -> None:
    names = ("id", "title", "price", "item_group_id", "color", "availability")
    rows = [
        ("1", "Tee", "65.00 USD", "g1", "Navy", "in stock"),
        ("9", "Cap", "5 USD", "", "", ""),
        ("2", "Tee", "49 USD", "g1", "Red", "out of stock"),
    ]
    if kind == "tsv":
        content = "\n".join("\t".join(row) for row in (names, *rows))
    elif kind == "json":
        content = json.dumps([dict(zip(names, row, strict=True)) for row in rows])
    else:
        items = ["".join(f"<g:{name}>{cell}</g:{name}>" for name, cell in zip(names, row, strict=True)) for row in rows]
        content = f"<rss><channel>{''.join(f'<item>{item}</item>' for item in items)}</channel></rss>"
    found = {each.id: each for each in products(tmp_path / "a", content, None)}
    assert found.keys() == {"g1", "9"}
    assert variants(found["g1"]) == [("navy", 6500, None), ("red", 4900, 0)]
    assert open_catalog(str(tmp_path / "a"))[1] == SourceReport(3, 2, {DropReason.CONTINUATION: 1})


def test_configurations_of_a_data_set_are_listed_and_read(tmp_path: Path) -> None:
    for name in ("mugs", "lamps"):
        (tmp_path / f"{name}.jsonl").write_text(json.dumps({"parent_asin": name, "title": f"Red {name}"}))
    configs = "".join(f"- config_name: {name}\n  data_files: {name}.jsonl\n" for name in ("mugs", "lamps"))
    (tmp_path / "README.md").write_text(f"---\nconfigs:\n{configs}---\n")
    assert list(open_catalog(f"hf:{tmp_path}:mugs")[0].ids) == ["mugs"]
    assert list(open_catalog(f"hf:{tmp_path}:lamps@train")[0].ids) == ["lamps"]
    assert row_source(f"hf:{tmp_path}:lamps@train").name == f"hf:{tmp_path}:lamps@train"
    listed = r"there are lamps \(train\); mugs \(train\): give hf:.*:CONFIG"
    with pytest.raises(SourceError, match=f"has several configurations; {listed}"):
        open_catalog(f"hf:{tmp_path}")
    with pytest.raises(SourceError, match=f"no configuration 'cups'; {listed}"):
        open_catalog(f"hf:{tmp_path}:cups")
    with pytest.raises(
        SourceError, match=r"no split 'dev'; there are train: give hf:.*:mugs@SPLIT; configurations: lamps, mugs"
    ):
        open_catalog(f"hf:{tmp_path}:mugs@dev")


@given(st.binary(max_size=300))
def test_no_bytes_raise_anything_but_a_clear_error(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    path = tmp_path_factory.mktemp("any") / "a"
    for head in (b"", b"id,title\n", b'{"parent_asin": "1", "title": "a"}\n', b"["):
        path.write_bytes(head + content)
        try:
            told = "" if open_catalog(str(path), currency="USD")[0].size else "nothing"
        except SourceError as error:
            told = str(error)
        assert not told or str(path) in told
