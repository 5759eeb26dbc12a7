"""Other rows by a mapping file: what it says, what is refused, and the one that is proposed."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ecom_rlve.catalog.errors import SourceError
from ecom_rlve.catalog.sources import DropReason, open_catalog
from ecom_rlve.catalog.sources.mapping.file import read_mapping
from ecom_rlve.catalog.sources.mapping.proposal import proposed_mapping
from ecom_rlve.catalog.sources.opening import records_source

_TABLE = """Artikelnummer;Artikelname;Preis (EUR);Warengruppe;Farbe;Gewicht (kg);Stil;Aktiv;Bild
10;Becher groß;12,99;Home / Mugs;Rot;0,5;S1;ja;a.jpg
11;Becher groß;14,99;Home / Mugs;Blau;0,5;S1;ja;b.jpg
12;Lampe;1.299,00;Home / Lamps;;2,0;;ja;c.jpg
13;Alte Lampe;9,00;Home / Lamps;;2,0;;nein;d.jpg
"""
_MAP = """
[columns]
Artikelnummer = "id"
Artikelname = "title"
"Preis (EUR)" = "price"
Warengruppe = "category"
Farbe = "color"
"Gewicht (kg)" = "weight"
Stil = "group"
Aktiv = "published"
[units]
weight = "kg"
[catalog]
currency = "EUR"
category_separator = "/"
"""


def write(folder: Path, mapping: str = _MAP, table: str = _TABLE) -> tuple[str, Path]:
    (folder / "map.toml").write_text(mapping, "utf-8")
    (folder / "a.csv").write_text(table, "utf-8")
    return str(folder / "a.csv"), folder / "map.toml"


def test_columns_units_currency_and_groups_are_mapped(tmp_path: Path) -> None:
    source, mapping = write(tmp_path, table=_TABLE.replace(";ja", ";yes").replace(";nein", ";no"))
    catalog, report = open_catalog(source, mapping=mapping)
    mug, lamp = (catalog.product(row) for row in range(2))
    assert (mug.id, mug.title, mug.price_cents, mug.price_is_floor) == ("S1", "Becher groß", 1299, True)
    assert [(dict(each.values), each.price_cents) for each in mug.variants] == [
        ({"color": "rot"}, 1299),
        ({"color": "blau"}, 1499),
    ]
    assert (lamp.id, lamp.price_cents, lamp.attributes["weight"]) == ("12", 129900, 2000.0)
    assert catalog.currency == "EUR"
    assert catalog.category_of(1).name == "lamps"
    assert lamp.provenance["price"] == "Preis (EUR): 1.299,00"
    assert report.dropped == {DropReason.CONTINUATION: 1, DropReason.UNPUBLISHED: 1}


def test_cents_and_nested_json_and_parquet_are_mapped(tmp_path: Path) -> None:
    rows = [
        {"code": f"c{at}", "names": {"en": f"Red Mug {at}"}, "cost": 1250, "tags": ["Home", "Mugs"]} for at in range(3)
    ]
    mapping = tmp_path / "map.toml"
    mapping.write_text(
        '[columns]\ncode = "id"\n"names.en" = "title"\ncost = "price"\ntags = "category"\n[units]\nprice = "cents"\n'
    )
    (tmp_path / "a.json").write_text(json.dumps(rows))
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "a.parquet")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder/a.jsonl").write_text("\n".join(map(json.dumps, rows)))
    sources = (str(tmp_path / "a.json"), str(tmp_path / "a.parquet"), f"hf:{tmp_path}/folder")
    catalogs = [open_catalog(source, mapping=mapping, currency="JPY")[0] for source in sources]
    assert len({catalog.fingerprint for catalog in catalogs}) == 1
    assert (catalogs[0].product(0).price_cents, catalogs[0].category_of(0).name) == (1250, "mugs")


@pytest.mark.parametrize(
    ("mapping", "message"),
    [
        ("[columns", "no TOML .* catalog map SOURCE writes one"),
        ('[columns]\na = "id"\n', "no column is the title; a product needs id and title"),
        ('[columns]\na = "id"\nb = "titel"\n', "'titel' is no field, did you mean 'title'"),
        ("[rows]\n", r"there are \[columns\], \[units\] and \[catalog\]"),
        (_MAP.replace('"kg"', '"kg"\nprice = "pounds"'), r"take price out of \[units\]"),
        (_MAP.replace('"kg"', '"kg"\ncolor = "kg"'), r"take color out of \[units\]"),
        (_MAP.replace('EUR"\ncat', 'EURO"\ncat'), "'EURO' is no currency"),
        (
            _MAP.replace("Artikelname =", "Name ="),
            "no column 'Name', which the mapping calls the title; there are Artikel",
        ),
    ],
)
def test_a_wrong_mapping_is_told(tmp_path: Path, mapping: str, message: str) -> None:
    source, path = write(tmp_path, mapping)
    with pytest.raises(SourceError, match=message):
        open_catalog(source, mapping=path)


def test_a_proposal_names_fields_units_currency_and_separator(tmp_path: Path) -> None:
    source, _ = write(tmp_path)
    text = proposed_mapping(records_source(source))
    content = tomllib.loads(text)
    assert content["columns"] == {
        "Artikelnummer": "id",
        "Artikelname": "title",
        "Preis (EUR)": "price",
        "Warengruppe": "category",
        "Farbe": "color",
        "Gewicht (kg)": "weight",
    }
    assert content["units"] == {"weight": "kg"}
    assert content["catalog"] == {"currency": "EUR", "category_separator": "/"}
    assert '# "Bild" = ""  # "a.jpg"' in text
    (tmp_path / "proposed.toml").write_text(text)
    assert open_catalog(source, mapping=tmp_path / "proposed.toml")[1].kept == 4


def test_what_no_name_tells_is_guessed_from_values(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("x,y,z\nq1,A fine red mug,5\nq2,A large blue cup,5\n")
    columns = tomllib.loads(proposed_mapping(records_source(str(tmp_path / "a.csv"))))["columns"]
    assert columns == {"x": "id", "y": "title"}


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=12), min_size=1, max_size=5), st.data())
def test_any_proposal_is_a_mapping_or_says_what_it_lacks(
    tmp_path_factory: pytest.TempPathFactory, names: list[str], data: st.DataObject
) -> None:
    folder = tmp_path_factory.mktemp("map")
    cell = st.text(st.characters(exclude_categories=["Cs"]), max_size=9)
    rows = [{name: data.draw(cell) for name in names} for _ in range(3)]
    (folder / "a.json").write_text(json.dumps(rows))
    text = proposed_mapping(records_source(str(folder / "a.json")))
    assert set(tomllib.loads(text)) == {"columns", "units", "catalog"}
    (folder / "map.toml").write_text(text, "utf-8")
    try:
        lacks = "" if read_mapping(folder / "map.toml").of("id") else "id"
    except SourceError as error:
        lacks = str(error)
    assert not lacks or "a product needs id and title" in lacks
