"""Shopify product exports: one product per handle, and what a broken file does."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from ecom_rlve.catalog.errors import SourceError
from ecom_rlve.catalog.product import Product
from ecom_rlve.catalog.rows.reading import Reading
from ecom_rlve.catalog.rows.row import read_row
from ecom_rlve.catalog.sources import DropReason, open_catalog, row_source
from ecom_rlve.catalog.sources.shopify import ShopifyExport

_HEADER = [
    *("Handle", "Title", "Body (HTML)", "Vendor", "Product Category", "Type", "Tags", "Option1 Name", "Option1 Value"),
    *("Option2 Name", "Option2 Value", "Variant Grams", "Variant Price", "Variant Compare At Price", "Image Src"),
    "Google Shopping / Age Group",
]


def write(path: Path, *lines: dict[str, str], header: list[str] = _HEADER) -> Path:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, header, restval="")
        writer.writeheader()
        writer.writerows(lines)
    return path


def line(handle: str = "boot", **cells: str) -> dict[str, str]:
    return {"Handle": handle} | {name.replace("_", " "): cell for name, cell in cells.items()}


def products(path: Path) -> list[Product]:
    readings = [read_row(row) for row in row_source(str(path)).rows(0)]
    return [reading.product for reading in readings if isinstance(reading, Reading)]


def test_variants_and_images_become_one_product(tmp_path: Path) -> None:
    first = line(
        Title="Winter Boots",
        Body_HTML="",
        Vendor="Acme",
        Type="Shoes",
        Tags="men, sale",
        Option1_Name="Size",
        Option1_Value="Small",
        Option2_Name="Color",
        Option2_Value="Red",
        Variant_Grams="900",
        Variant_Price="59.00",
        Variant_Compare_At_Price="10",
    )
    first["Body (HTML)"] = "<p>Red boots</p><ul>\n<li>Genuine leather</li><li>For adults &amp; teens</li></ul>"
    first["Google Shopping / Age Group"] = "Adult"
    del first["Body HTML"]
    path = write(
        tmp_path / "a.csv",
        first,
        line(Option1_Value="Large", Option2_Value="Red", Variant_Grams="900", Variant_Price="49.50"),
        line(Image_Src="https://example.com/2.jpg"),
        line("hat", Title="Hat", Option1_Name="Title", Option1_Value="Default Title", Variant_Price="5"),
    )
    boots, hat = products(path)
    assert (boots.id, boots.title, boots.category) == ("boot", "Winter Boots", "boots")
    assert (boots.price_cents, boots.price_is_floor, boots.price_high_cents) == (4950, True, 5900)
    assert (boots.brand, boots.store, boots.currency) == ("Acme", "Acme", None)
    assert (boots.description, boots.features) == ("Red boots", ("Genuine leather", "For adults & teens"))
    assert boots.attributes == {"color": "red", "material": "leather", "age_range": "adult", "weight": 900.0}
    assert boots.provenance == {
        "age_range": "Google Shopping / Age Group: Adult",
        "brand": "Vendor: Acme",
        "category": "Title: Winter Boots",
        "color": "Option2 Value: Red",
        "material": "Body (HTML): Genuine leather",
        "price": "Variant Price: 49.50 - 59.00",
        "weight": "Variant Grams: 900 g",
    }
    assert (hat.price_cents, hat.price_is_floor, hat.price_high_cents, dict(hat.attributes)) == (500, False, None, {})
    report = open_catalog(str(path), currency="USD")[1]
    assert (report.read, report.kept, report.dropped) == (4, 2, {DropReason.CONTINUATION: 2})


def test_the_columns_of_newer_exports_are_known(tmp_path: Path) -> None:
    names = {
        "Handle": "URL handle",
        "Body (HTML)": "Description",
        "Variant Price": "Price",
        "Option1 Name": "Option1 name",
    }
    names |= {"Option1 Value": "Option1 value", "Product Category": "Product category"}
    names |= {"Variant Grams": "Weight value (grams)"}
    row = line(Title="Black Bag", Option1_Name="Color", Option1_Value="Black", Variant_Price="5", Variant_Grams="70")
    row["Product Category"] = "Luggage & Bags > Handbags"
    old = products(write(tmp_path / "old.csv", row))
    renamed = {names.get(name, name): cell for name, cell in row.items()}
    new = products(write(tmp_path / "new.csv", renamed, header=[names.get(name, name) for name in _HEADER]))
    assert new == old
    assert (new[0].category, new[0].price_cents) == ("handbags", 500)
    assert new[0].attributes == {"color": "black", "weight": 70.0}


@pytest.mark.parametrize(
    ("title", "kind", "tags", "category"),
    [
        ("Silver Threader", "Necklace", "", "necklaces"),
        ("Copper One", "Indoor", "Copper, Lamp", "other items"),
        ("Copper One", "", "", "other items"),
        ("Choker with Bead", "Outdoor", "Hat", "necklaces"),
    ],
)
def test_a_type_says_what_a_product_is_and_tags_do_not(
    tmp_path: Path, title: str, kind: str, tags: str, category: str
) -> None:
    (product,) = products(write(tmp_path / "a.csv", line(Title=title, Type=kind, Tags=tags, Variant_Price="5")))
    assert product.category == category


def test_lines_without_a_title_or_a_handle_are_counted(tmp_path: Path) -> None:
    path = write(
        tmp_path / "a.csv",
        line("", Title="Hat", Variant_Price="5"),
        line("x", Image_Src="https://example.com/1.jpg"),
        line("hat", Title="Hat", Variant_Price="5"),
        line("boot", Title="Boot", Variant_Price="5"),
        line("hat", Title="Hat", Variant_Price="6"),
    )
    catalog, report = open_catalog(str(path), currency="USD")
    assert report.dropped == {DropReason.NO_ID: 1, DropReason.NO_TITLE: 1, DropReason.CONTINUATION: 1}
    assert catalog.product(catalog.row_of("hat")).price_cents == 500, "its lines need not stand together"


_GOOD = b"Handle,Title,Variant Price\nhat,Hat,5\n"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "the file is empty"),
        (b"Handle,Title\n", "holds no rows below its header"),
        (b"a,b\n1,Hat\n", r"looks like a table with 2 fields \(a, b\), but like no export that is known .*catalog map"),
        (b"Handle,b\n1,Hat\n", "like no export that is known"),
        (_GOOD + b"boot,Bo\0ot,5\n", "line 3: holds a NUL byte, .* export the file again as UTF-8"),
        (
            _GOOD + "caf,Café,5\n".encode() + b"boot,Bo\xfft,5\n",
            "line 4: holds bytes that are no UTF-8, .* convert the file",
        ),
        (_GOOD + b"boot,Boot\n", "line 3: 2 cells under a header of 3; .* cut off"),
        (_GOOD + b'\n"two\nlines",Boot,5\nboot,Boot,5,6\n', "line 6: 4 cells under a header of 3"),
        (_GOOD + b'boot,"Boot,5\nhat,Hat,5\n', "line 3: broken quoting or a record cut off"),
        (_GOOD + b'boot,"Boot"s,5\n', "line 3: broken quoting"),
    ],
)
def test_a_broken_export_is_refused_by_name_and_line(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "broken.csv"
    path.write_bytes(content)
    with pytest.raises(SourceError, match=f"(?s)broken.csv.*{message}"):
        open_catalog(str(path), currency="USD", max_bad=0)


def test_a_line_above_the_limit_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "long.csv"
    path.write_bytes(_GOOD + b"boot," + b"x" * 10_000)
    with pytest.raises(SourceError, match=r"long.csv, line 3: longer than 9,000 bytes"):
        list(ShopifyExport(path, max_bytes=9_000).rows(0))


def test_a_long_body_is_no_fault(tmp_path: Path) -> None:
    row = line(Title="Hat", Variant_Price="5") | {"Body (HTML)": "word\n" * 60_000}
    (product,) = products(write(tmp_path / "a.csv", row))
    assert len(product.description) == 60_000 * 5 - 1


def test_rows_start_anywhere(tmp_path: Path) -> None:
    lines = [line(f"h{at // 3}", Title="Hat" if at % 3 == 0 else "", Variant_Price=str(at)) for at in range(30)]
    source = row_source(str(write(tmp_path / "a.csv", *lines)))
    rows = list(source.rows(0))
    assert len(rows) == 30
    assert all(list(source.rows(start)) == rows[start:] for start in (1, 2, 3, 29, 30))
