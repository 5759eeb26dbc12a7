"""The facts that a customer with a project can tell.

Item 0 is the project itself; the other items are the kinds of things that it needs. Which kinds it needs and what it
may cost are facts of item 0; what a thing should be like is a fact of its kind's item. If a kind is left out of the
first message, so are its wishes, and telling one of its wishes also tells that it is needed.
"""

from __future__ import annotations

from ecom_rlve.catalog.constraints import Constraint, Op
from ecom_rlve.envs.language.acts import Fact, SlotKind
from ecom_rlve.envs.language.spelling import with_article
from ecom_rlve.envs.parts.description import unit_of

PROJECT = 0
"""Position of the item that is the project itself."""

_WHICH = ("which", "what", "which other", "what other", "any other", "other", "further", "additional", "more")
_THINGS = ("things", "items", "products", "categories", "articles", "pieces")
NEED = SlotKind(
    name="need",
    label="on the list",
    words=(
        *(f"{which} {things}" for which in _WHICH for things in _THINGS),
        "what do you need", "what else do you need", "what you need", "what else you need", "what else is needed",
        "anything else you need", "anything else do you need", "do you need anything else", "what are you looking for",
        "what else are you looking for", "what do you want", "what else do you want", "what do you want to buy",
        "what would you like to buy", "things do you need", "items do you need", "products do you need",
        "kinds of things", "kinds of products", "kinds of items", "types of products", "types of items", "item types",
        "product types", "shopping list", "full list", "complete list", "list of things", "list of items",
        "what should it include", "what should be included", "what does it include", "what belongs to it",
        "things it needs", "things you need", "items you need", "products you need", "things are missing",
        "items are missing", "how many things", "how many items", "how many products", "number of things",
    ),
    is_of_all=True,
)  # fmt: skip
BUDGET = SlotKind(
    name="budget",
    label="budget",
    words=("total budget", "overall budget", "total price", "total cost", "in total", "spending limit", "altogether"),
    is_of_all=True,
)
WISH = SlotKind(
    name="requirement",
    label="requirement",
    words=(
        "wishes", "preferences", "any preference", "specifications", "specs", "must-have", "criterion", "criteria",
        "constraint", "particular about", "specific features", "special features", "what features", "which features",
        "look for in", "matters to you", "important to you", "should it be like", "should they be like",
    ),
)  # fmt: skip
"""A question for it names no attribute: it asks for any wish about a thing."""


def need_fact(singular: str) -> Fact:
    """Return the fact that the project needs a thing of this kind."""
    return Fact(NEED.name, Constraint(NEED.name, Op.EQ, singular), kind=NEED, spelled=with_article(singular))


def budget_fact(cents: int, currency: str | None = None) -> Fact:
    """Return the fact that all things together may cost at most so many cents of the catalog's currency."""
    return Fact(BUDGET.name, Constraint("price", Op.AT_MOST, cents), currency or "", kind=BUDGET)


def wish_fact(constraint: Constraint, currency: str | None = None) -> Fact:
    """Return the fact that a thing should meet a constraint on an attribute of the catalog."""
    return Fact(WISH.name, constraint, unit_of(constraint.attribute, currency))
