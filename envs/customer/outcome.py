"""How an utterance came about, and what a check found in its words."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple


class Outcome(StrEnum):
    """How the words of an utterance came about; a label in metrics and traces.

    ``FELL_BACK_…``: the template text was said, for the reason given.
    """

    TEMPLATE = "template"
    """No model was asked."""
    ACCEPTED = "accepted"
    """The model's first wording passed the check."""
    RETRIED = "retried"
    """The model's second wording passed the check."""
    FELL_BACK_PLACES = "fell_back_places"
    """Template: a place that code fills was left out, doubled or renamed."""
    FELL_BACK_WORDS = "fell_back_words"
    """Template: a word or number outside the places could state a fact."""
    FELL_BACK_MEANING = "fell_back_meaning"
    """Template: the words did something else than the acts, or turned a fact around."""
    FELL_BACK_BRACE = "fell_back_brace"
    """Template: braces, markup, links or invisible characters."""
    FELL_BACK_ROLE = "fell_back_role"
    """Template: the words were not a customer's."""
    FELL_BACK_LENGTH = "fell_back_length"
    """Template: too long, or cut off."""
    FELL_BACK_LANGUAGE = "fell_back_language"
    """Template: not English."""
    FELL_BACK_EMPTY = "fell_back_empty"
    """Template: the model said nothing, or only thought."""
    FELL_BACK_TIMEOUT = "fell_back_timeout"
    """Template: the endpoint did not answer in time."""
    FELL_BACK_HTTP = "fell_back_http"
    """Template: the endpoint was out of reach or answered with an error."""
    FELL_BACK_INVALID = "fell_back_invalid"
    """Template: the endpoint's answer was no chat completion, or too big."""
    FELL_BACK_BREAKER_OPEN = "fell_back_breaker_open"
    """Template: the endpoint had failed too often to be asked."""
    FELL_BACK_BUDGET = "fell_back_budget"
    """Template: the wording was not ready within the time that the message may take."""
    FELL_BACK_UNRECORDED = "fell_back_unrecorded"
    """Template: the cassette is only played and does not hold this utterance."""

    @property
    def is_fallback(self) -> bool:
        """Whether the template was said although a model should have worded the utterance."""
        return self.startswith("fell_back")


class Finding(NamedTuple):
    """Why a text does not pass."""

    outcome: Outcome
    explanation: str
    """For the model's second try; names only what the model was told or said itself."""
