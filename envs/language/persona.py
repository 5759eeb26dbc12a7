"""How a customer speaks: manner only, never facts.

A persona changes greetings, sentences and casing. The acts decide what is said: all personas say the same things.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from numpy.random import Generator

Register = Literal["plain", "terse", "formal", "chatty"]


@dataclass(frozen=True, slots=True)
class Persona:
    """A manner of speaking."""

    name: str
    register: Register
    """Whose frames of the bank the customer uses, besides those of everybody and their own."""
    greets: float
    """Probability that the first message begins with a greeting, 0 to 1."""
    closes: float
    """Probability that the first message ends with a closing word, 0 to 1."""
    lists: float
    """Probability that several wanted things are said as a labelled list instead of sentences, 0 to 1."""
    is_sloppy: bool = False
    """Sentences begin with a small letter."""
    uses_slang: bool = False
    """Typing noise may turn a word into slang ("pls")."""
    is_careless: bool = False
    """Typing noise may run two words together, drop a capital or an apostrophe, or slip in grammar."""


PERSONAS: tuple[Persona, ...] = (
    Persona("plain", "plain", greets=0.5, closes=0.2, lists=0.1, is_careless=True),
    Persona("terse", "terse", greets=0.1, closes=0.1, lists=0.4, uses_slang=True, is_careless=True),
    Persona("chatty", "chatty", greets=0.8, closes=0.4, lists=0.05, uses_slang=True, is_careless=True),
    Persona("formal", "formal", greets=0.7, closes=0.4, lists=0.15),
    Persona("hurried", "terse", greets=0.4, closes=0.3, lists=0.3, uses_slang=True, is_careless=True),
    Persona("friendly", "chatty", greets=0.8, closes=0.4, lists=0.1, is_careless=True),
    Persona("sloppy", "plain", greets=0.5, closes=0.3, lists=0.3, is_sloppy=True, uses_slang=True, is_careless=True),
    Persona("businesslike", "formal", greets=0.5, closes=0.3, lists=0.3),
)


def draw_persona(rng: Generator) -> Persona:
    """Return one of :data:`PERSONAS`, each equally likely."""
    return PERSONAS[int(rng.integers(len(PERSONAS)))]
