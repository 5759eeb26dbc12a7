"""Google Merchant feeds: what an item tells, and what a broken or hostile file does."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ecom_rlve.catalog.errors import SourceError
from ecom_rlve.catalog.product import Product
from ecom_rlve.catalog.rows.reading import Reading
from ecom_rlve.catalog.rows.row import read_row
from ecom_rlve.catalog.sources import open_catalog, row_source
from ecom_rlve.catalog.sources.merchant_feed import MerchantFeed

_ITEM = """<item><g:id>a1</g:id><title>Red Leather Boots</title>
<description>&lt;p&gt;Warm &amp;amp; dry&lt;/p&gt;</description>
<g:price>144.99 USD</g:price><g:sale_price>99.99 USD</g:sale_price><g:availability>in_stock</g:availability>
<g:shipping><g:country>US</g:country><g:price>4.99 USD</g:price></g:shipping>
<g:color>Red</g:color><g:size>US 6 | EU 36</g:size><g:material>Leather</g:material><g:brand>Acme</g:brand>
<g:age_group>adult</g:age_group><g:product_highlight>In EU 36</g:product_highlight>
<g:product_highlight>For adults</g:product_highlight><g:product_weight>1.5 kg</g:product_weight>
<g:product_type>Home &gt; Shoes &gt; Boots</g:product_type><g:google_product_category>187</g:google_product_category>
<c:price xmlns:c="http://base.google.com/cns/1.0">1 USD</c:price></item>"""
_HEAD = (
    '<?xml version="1.0" encoding="UTF-8"?>\n<rss xmlns:g="http://base.google.com/ns/1.0"><channel><title>Shop</title>'
)
_FOOT = "</channel></rss>"


def products(path: Path, content: str | bytes) -> list[Product]:
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    readings = [read_row(row) for row in row_source(str(path)).rows(0)]
    assert all(isinstance(reading, Reading) for reading in readings), readings
    return [reading.product for reading in readings if isinstance(reading, Reading)]


def test_an_item_becomes_a_product(tmp_path: Path) -> None:
    (product,) = products(tmp_path / "feed.xml", _HEAD + _ITEM + _FOOT)
    assert (product.id, product.title, product.description) == ("a1", "Red Leather Boots", "Warm & dry")
    assert (product.price_cents, product.currency, product.brand, product.store) == (9999, "USD", "Acme", None)
    assert (product.category, product.features) == ("boots", ("In EU 36", "For adults"))
    assert product.attributes == {
        "color": "red",
        "size": "eu 36",
        "material": "leather",
        "age_range": "adult",
        "weight": 1500.0,
    }
    assert product.provenance == {
        "age_range": "g:age_group: adult",
        "brand": "g:brand: Acme",
        "category": "g:product_type: Shoes > Boots",
        "color": "g:color: Red",
        "material": "g:material: Leather",
        "price": "g:sale_price: 99.99 USD",
        "size": "g:size: US 6 | EU 36",
        "weight": "g:product_weight: 1.5 kg",
    }


@pytest.mark.parametrize(
    "content",
    [
        _HEAD + _ITEM + _FOOT,
        # A feed whose writer forgot to declare the prefix, and one that chose another.
        _HEAD.replace(' xmlns:g="http://base.google.com/ns/1.0"', "") + _ITEM + _FOOT,
        (_HEAD + _ITEM + _FOOT).replace("g:", "goo:").replace("xmlns:g=", "xmlns:goo="),
        # No name space at all.
        (_HEAD.replace(' xmlns:g="http://base.google.com/ns/1.0"', "") + _ITEM + _FOOT).replace("g:", ""),
        # Atom.
        '<feed xmlns="http://www.w3.org/2005/Atom" xmlns:g="http://base.google.com/ns/1.0"><title>Shop</title>'
        + _ITEM.replace("item>", "entry>").replace("description>", "summary>")
        + "</feed>",
        (_HEAD.replace("UTF-8", "UTF-16") + _ITEM + _FOOT).encode("utf-16"),
    ],
)
def test_name_spaces_and_encodings_do_not_matter(tmp_path: Path, content: str | bytes) -> None:
    expected = products(tmp_path / "expected.xml", _HEAD + _ITEM + _FOOT)
    assert products(tmp_path / "feed.xml", content) == expected


def test_a_tab_separated_feed_tells_the_same(tmp_path: Path) -> None:
    cells = {
        "id": "a1",
        "title": "Red Leather Boots",
        "description": "<p>Warm &amp; dry</p>",
        "price": "144.99 USD",
        "sale price": "99.99 USD",
        "g:color": "Red",
        "Material": "Leather",
        "brand": "Acme",
        "product type": '"Home > Shoes > Boots"',
        "shipping(country:price)": "US:4.99 USD",
    }
    text = "\ufeff" + "\t".join(cells) + "\r\n" + "\t".join(cells.values()) + "\r\n"
    (product,) = products(tmp_path / "feed.tsv", text)
    assert (product.price_cents, product.currency, product.category, product.brand) == (9999, "USD", "boots", "Acme")
    assert product.attributes == {"color": "red", "material": "leather"}
    assert product.provenance["price"] == "sale_price: 99.99 USD"


@pytest.mark.parametrize(
    ("prices", "cents", "field"),
    [
        ("<g:price>9 USD</g:price>", 900, "price"),
        ("<g:price>9 USD</g:price><g:sale_price>0 USD</g:sale_price>", 900, "price"),
        ("<g:price>9 USD</g:price><g:sale_price>12 USD</g:sale_price>", 900, "price"),
        ("<g:price>9</g:price><g:sale_price>5</g:sale_price>", 500, "sale_price"),
        (
            "<g:price>9 USD</g:price><g:sale_price>5 USD</g:sale_price>"
            "<g:sale_price_effective_date>2016-02-24T11:07+0100/2016-02-29T23:07+0100</g:sale_price_effective_date>",
            900,
            "price",
        ),
    ],
)
def test_a_sale_counts_where_it_surely_holds(tmp_path: Path, prices: str, cents: int, field: str) -> None:
    (product,) = products(tmp_path / "a.xml", f"{_HEAD}<item><id>1</id><title>Boots</title>{prices}</item>{_FOOT}")
    assert product.price_cents == cents
    assert product.provenance["price"].startswith(f"g:{field}: ")


def test_the_currency_of_a_feed_is_its_own(tmp_path: Path) -> None:
    item = "<item><id>1</id><title>Boots</title><g:price>9.00</g:price><g:currency>EUR</g:currency></item>"
    (product,) = products(tmp_path / "a.xml", _HEAD + item + _FOOT)
    assert (product.price_cents, product.currency) == (900, "EUR")
    assert open_catalog(str(tmp_path / "a.xml"))[0].currency == "EUR"


@pytest.mark.parametrize(
    ("kinds", "category"),
    [
        ("<g:product_type>Dresses</g:product_type>", "other items"),
        ("<g:product_type>Sale</g:product_type>", "boots"),
        (
            "<g:product_type>Sale</g:product_type>"
            "<g:google_product_category>Apparel &amp; Accessories &gt; Shoes</g:google_product_category>",
            "boots",
        ),
        ("<g:google_product_category>187</g:google_product_category>", "boots"),
        ("<g:google_product_category>328</g:google_product_category>", "other items"),
        ("<g:product_type>Women &gt; Riding Boots</g:product_type>", "boots"),
        ("<g:product_type>Women &gt; Beach Boots</g:product_type>", "beach boots"),
    ],
)
def test_title_and_category_decide_together(tmp_path: Path, kinds: str, category: str) -> None:
    (product,) = products(tmp_path / "a.xml", f"{_HEAD}<item><id>1</id><title>Boots</title>{kinds}</item>{_FOOT}")
    assert product.category == category


_BOMB = (
    """<!DOCTYPE rss [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;"><!ENTITY c "&b;&b;&b;&b;&b;">]>"""
)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ((_HEAD + _ITEM + _FOOT)[:-40], r"line \d+: broken or cut-off XML .* fetch the feed again"),
        (_HEAD + "<item><id>1</id><title>B", r"line 2: broken or cut-off XML"),
        (_HEAD + "<item>\n<id>1</item>" + _FOOT, "line 3: broken or cut-off XML .*mismatched"),
        (_HEAD.encode() + b"<item>\n<title>\xff</title></item>", "line 3: .* encoding it declares"),
        (_HEAD + "<item><title>&nope;</title></item>" + _FOOT, "line 2: broken .*undefined entity"),
        ("", "holds no rows, the file is empty"),
        ("<!DOCTYPE html><html>", "looks like a web page"),
        (f"{_BOMB}<rss><channel><item><title>&c;</title></item></channel></rss>", "line 1: a document type"),
        ('<!DOCTYPE rss SYSTEM "file:///etc/hostname"><rss/>', "line 1: a document type"),
        (_HEAD + _FOOT, "holds no items"),
    ],
)
def test_a_broken_feed_is_refused_by_name_and_line(tmp_path: Path, content: str | bytes, message: str) -> None:
    path = tmp_path / "broken.xml"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(SourceError, match=f"(?s)broken.xml.*{message}"):
        open_catalog(str(path))


@pytest.mark.parametrize(
    "content",
    [
        f"<rss><item><id>1</id><title>{'x' * 200_000}",
        f"<rss><item>{'<g:x>y</g:x>' * 20_000}",
        f"<rss><!-- {'x' * 200_000}",
        f"<rss a='{'x' * 200_000}",
    ],
)
def test_one_endless_item_is_refused_before_it_fills_the_memory(tmp_path: Path, content: str) -> None:
    path = tmp_path / "endless.xml"
    path.write_text(content)
    with pytest.raises(SourceError, match=r"endless.xml, line 1: one item of more than 100,000 bytes; .* leave that"):
        list(MerchantFeed(path, max_bytes=100_000).rows(0))


@pytest.mark.slow
def test_a_long_feed_takes_little_memory(tmp_path: Path) -> None:
    path = tmp_path / "long.xml"
    with path.open("w") as file:
        file.write(_HEAD)
        for at in range(8_000):
            file.write(_ITEM.replace("a1", f"a{at}").replace("Red Leather", f"Red Leather {at}"))
        file.write(_FOOT)
    assert path.stat().st_size > 6_000_000
    tracemalloc.start()
    count = sum(1 for _ in MerchantFeed(path).rows(0))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert count == 8_000
    assert peak < 2_000_000


@given(st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"]), max_size=40))
def test_any_text_survives_the_xml(tmp_path_factory: pytest.TempPathFactory, title: str) -> None:
    path = tmp_path_factory.mktemp("feed") / "a.xml"
    escaped = title.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("\ufffe", "")
    path.write_text(f"<rss><item><id>1</id><title>{escaped}</title></item></rss>".replace("\uffff", ""), "utf-8")
    (row,) = row_source(str(path)).rows(0)
    assert row["title"] == title.replace("\ufffe", "").replace("\uffff", "").strip()
