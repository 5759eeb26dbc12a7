"""Wire types of what the customer said, told as data."""

from __future__ import annotations

from pydantic import BaseModel, Field


class SaidFact(BaseModel):
    """One fact that the customer said."""

    slot: str
    """``brand``, ``color``, ``price``, ``quantity``, ``variant`` …: what a question for it names."""
    attribute: str
    """The column that it is about; differs from ``slot`` for ``variant``."""
    op: str
    """How a product is compared with it: ``eq``, ``any_of``, ``none_of``, ``at_most``, ``at_least``, ``between``."""
    value: str | float | list[str] | list[float]
    """A word, several (``any_of``, ``none_of``), a number in ``unit``, or two (``between``); prices are whole cents."""
    unit: str = ""


class SaidItem(BaseModel):
    """One thing that the customer spoke of."""

    singular: str
    plural: str
    facts: list[SaidFact] = Field(default_factory=list)


class SaidAct(BaseModel):
    """One act of the customer's latest message: what was said, never what was left unsaid."""

    kind: str
    """``open``, ``answer``, ``revise`` …"""
    items: list[SaidItem] = Field(default_factory=list)
    attributes: list[str] = Field(default_factory=list)
    """What a ``dont_know``, ``no_preference`` or ``correct`` without a value speaks of."""
    title: str = ""
    """Title of the product that is to be taken instead."""
    says: dict[str, str] = Field(default_factory=dict)
    """What an opening says beside facts, by name."""
    intent: str = ""
    """In a journey: the errand that the customer begins or comes back to."""
