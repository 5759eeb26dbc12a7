"""How a customer speaks: manner only, never facts.

A persona changes greetings, sentence forms and casing. The acts decide what is said: all personas say the same things.
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
    """Which sentences of the template banks the customer uses."""
    greets: float
    """Probability that the first message begins with a greeting, 0 to 1."""
    greetings: tuple[str, ...]
    closes: float
    """Probability that the first message ends with a closing word, 0 to 1."""
    closings: tuple[str, ...]
    lists: float
    """Probability that the first message is a labelled list instead of sentences, 0 to 1."""
    is_sloppy: bool = False
    """True if sentences begin with a small letter."""


PERSONAS: tuple[Persona, ...] = (
    Persona("plain", "plain", 0.7, ("Hello.", "Hi.", "Hello there.", "Good day."), 0.3, ("Thanks.", "Thank you."), 0.1),
    Persona("terse", "terse", 0.1, ("Hi.", "Hello."), 0.1, ("Thanks.", "Cheers."), 0.6),
    Persona(
        "chatty",
        "chatty",
        0.95,
        (
            "Hi there, I hope your day is going well!",
            "Hello! Lovely to have some help with this.",
            "Hey, I finally found the time to do my shopping.",
            "Hi! My weekend was all about making a list, so here goes.",
            "Hello hello! I could use a hand today.",
        ),
        0.6,
        ("Thanks so much for your help!", "I'm curious what you come up with!", "You're a star, thanks!"),
        0.05,
    ),
    Persona(
        "formal",
        "formal",
        0.9,
        ("Good day.", "Good morning.", "Good afternoon.", "Good day to you.", "Greetings."),
        0.6,
        ("Thank you in advance.", "I appreciate your assistance.", "Many thanks for your support."),
        0.15,
    ),
    Persona(
        "hurried",
        "terse",
        0.5,
        ("Hi, I'm in a rush.", "Quick one.", "Hi, short on time today.", "Hey, got five minutes only."),
        0.4,
        ("Please be quick.", "I'm in a hurry.", "Quickly please, thanks."),
        0.35,
    ),
    Persona(
        "friendly",
        "chatty",
        0.95,
        ("Hi!", "Hello!", "Hey there!", "Hi, nice to meet you!", "Hello, hope you're well!"),
        0.7,
        ("Thanks a lot!", "Thank you so much!", "Cheers, much appreciated!"),
        0.1,
    ),
    Persona("sloppy", "plain", 0.5, ("hey.", "hi.", "heya.", "yo."), 0.3, ("thanks.", "cheers."), 0.3, is_sloppy=True),
    Persona(
        "businesslike",
        "formal",
        0.5,
        ("Good day.", "Hello.", "Good morning."),
        0.3,
        ("Kind regards.", "Thank you."),
        0.45,
    ),
)


def draw_persona(rng: Generator) -> Persona:
    """Return one of :data:`PERSONAS`, each equally likely."""
    return PERSONAS[int(rng.integers(len(PERSONAS)))]
