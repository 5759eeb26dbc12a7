"""The template voice: words acts in the manner of a persona, with typing noise."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from ecom_rlve.catalog.attributes import ATTRIBUTES
from ecom_rlve.catalog.constraints import words
from ecom_rlve.envs.language.acts import Act
from ecom_rlve.envs.language.noise import add_noise
from ecom_rlve.envs.language.persona import draw_persona
from ecom_rlve.envs.language.wording import word
from ecom_rlve.envs.scenario import Scenario
from ecom_rlve.streams import Streams

_AMERICANS = 0.5
"""Share of customers who write American English."""


class TemplateText(NamedTuple):
    """Acts in the bank's words."""

    text: str
    """As the customer says it."""
    frames: tuple[str, ...]
    """The frames that it is made from, in order."""


class TemplateVoice:
    """One customer's way of speaking: a function of the episode's seed, the act and the turn."""

    def __init__(self, scenario: Scenario, streams: Streams) -> None:
        self._world = scenario.world
        subjects = (subject for intent in scenario.intents for subject in intent.subjects)
        self._categories = {subject.singular: subject.category for subject in subjects}
        self._streams = streams
        rng = streams.stream("persona")
        self.persona = draw_persona(rng)
        self._is_american = rng.random() < _AMERICANS

    def say(self, acts: tuple[Act, ...], turn: int) -> TemplateText:
        """Return the acts in words."""
        rng, bank = self._streams.stream("wording", turn), self._world.shop.bank
        wording = word(acts, self.persona, rng, bank, is_american=self._is_american)
        p_noise = self._world.axes.p_noise
        if not p_noise:
            return TemplateText(wording.text, wording.frames)
        noisy = add_noise(
            wording.text,
            wording.protected,
            self._confusable(acts),
            p_noise,
            self._streams.stream("noise", turn),
            uses_slang=self.persona.uses_slang,
            is_careless=self.persona.is_careless,
        )
        return TemplateText(noisy, wording.frames)

    def _confusable(self, acts: tuple[Act, ...]) -> Mapping[str, tuple[str, ...]]:
        """Return the words of each value that is said, with the other words that a slip must not bring them near."""
        shop = self._world.shop
        rivals: dict[str, tuple[str, ...]] = {}
        for mention in (mention for act in acts for mention in act.mentions):
            for fact in mention.facts:
                for word_said in words(fact.constraint):
                    if fact.kind is None or fact.constraint.attribute in ATTRIBUTES:
                        others = shop.words_in_category(self._categories[mention.singular], fact.constraint.attribute)
                    else:
                        others = tuple(part for other in fact.kind.values for part in other.casefold().split())
                    for part in word_said.casefold().split():
                        rivals[part] = rivals.get(part, ()) + others
        return rivals
