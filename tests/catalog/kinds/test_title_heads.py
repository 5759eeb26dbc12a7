"""What titles name: the head noun, or nothing for sure."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ecom_rlve.catalog.kinds.title_heads import head_of_title


def _kind(title: str) -> str | None:
    head = head_of_title(title)
    return head.leaf.singular if head else None


@pytest.mark.parametrize(
    ("title", "kind"),
    [
        # The last noun is the head, and complements say nothing.
        ("Women's Tall Boot Socks (2 Pair Pack), Medium, Grey", "pair of socks"),
        ("Pedag Shoe Trees Ultra Lightweight for Pointed Toed Shoes", "pair of shoe trees"),
        ("Wooden Stone Bracelet", "bracelet"),
        ("LED Desk Lamp with USB Charging Port", "desk lamp"),
        ("Ninja AF101 Air Fryer that Crisps, Roasts & Dehydrates", "air fryer"),
        ("Smart Portable Projector with Simple Remote", "projector"),
        # Plain words may follow it.
        ("New 2026 Travel Trailer 17BH", "travel trailer"),
        ("Insulated Water Bottle 32 oz Navy", "water bottle"),
        ("Crew Sweater Medium Tile", "sweater"),
        ("Work Latitude Laptop 8GB RAM 256GB SSD", "laptop"),
        ("Anchor T-Shirt, Large", "t-shirt"),
        # Unknown words may not: the last word is the head.
        ("Laptop Zarfle", None),
        ("Silver Spoon Granulated 1kg", None),
        ("Cough Linctus 200 ml", None),
        # General nouns take the noun before them.
        ("Oak Hat Rack", "hat rack"),
        ("Glass Cake Stand", "cake stand"),
        ("PU Leather Folio Case for 10.1 Inch Tablet, Stand Cover + Pen", "case"),
        # "Of" and "and".
        ("Set of 6 Mugs", "mug"),
        ("Tree of Life Necklace", "necklace"),
        ("Painting of a Boat", "painting"),
        ("Oak Chest of Drawers", "chest of drawers"),
        ("Striped Skirt and Top", "skirt"),
        ("Black and White Mug", "mug"),
        ("Tea and Coffee Mug", "mug"),
        ("Shampoo and Conditioner Set", None),
        ("Rose Bracelet + Gift Bag", "bracelet"),
        # Sets.
        ("Steel Knife Set", "knife set"),
        ("Stud Earrings Set", "earring set"),
        # Parts after a dash, and after a brand and a comma.
        ("The Fox - Otter and Bear - Enamel Pin", "lapel pin"),
        ("Brother HL-L2350, Laser Printer", "printer"),
        ("Stilo X, Chrome, 12MP Camera", None),
        # Names of works, and their formats.
        ("The Red Tent", None),
        ("The Long Way Home (Paperback)", "book"),
        ("Happy Days (Vinyl)", None),
        # For animals and for play.
        ("Quilted Dog Coat", "dog coat"),
        ("Horse Blanket", "horse blanket"),
        ("Doll Bed", "doll bed"),
        # Words of several meanings need another one that speaks for them.
        ("Calcium Magnesium x100 Tablets", None),
        ("10 Inch Android Tablet", "tablet"),
        ("Sport Trucks Dodge Ram", None),
    ],
)
def test_the_head_noun_decides(title: str, kind: str | None) -> None:
    assert _kind(title) == kind


@given(st.text(max_size=120))
def test_any_text_can_be_read(title: str) -> None:
    head = head_of_title(title)
    assert head is None or head.leaf.singular


@given(st.lists(st.sampled_from("set of and for with - , & ( ) red 12 mug hat rack tea box new x".split()), max_size=9))
def test_words_of_titles_in_any_order_can_be_read(words: list[str]) -> None:
    head = head_of_title(" ".join(words))
    assert head is None or set(head.words) <= {*words, "and", "with"}
