"""The template voice: words acts in the manner of a persona, with typing noise."""

from __future__ import annotations

from collections.abc import Mapping

from ecom_rlve.catalog.attributes import ATTRIBUTES
from ecom_rlve.envs.language.acts import Act
from ecom_rlve.envs.language.noise import add_noise
from ecom_rlve.envs.language.persona import draw_persona
from ecom_rlve.envs.language.wording import word
from ecom_rlve.envs.scenario import Scenario
from ecom_rlve.streams import Streams


class TemplateVoice:
    """One customer's way of speaking: a function of the episode's seed, the act and the turn."""

    def __init__(self, scenario: Scenario, streams: Streams) -> None:
        self._world = scenario.world
        subjects = (subject for intent in scenario.intents for subject in intent.subjects)
        self._categories = {subject.singular: subject.category for subject in subjects}
        self._streams = streams
        self.persona = draw_persona(streams.stream("persona"))

    def say(self, acts: tuple[Act, ...], turn: int) -> str:
        """Return the acts in words."""
        wording = word(acts, self.persona, self._streams.stream("wording", turn))
        p_noise = self._world.axes.p_noise
        if not p_noise:
            return wording.text
        rng = self._streams.stream("noise", turn)
        return add_noise(wording.text, wording.protected, self._confusable(acts), p_noise, rng)

    def _confusable(self, acts: tuple[Act, ...]) -> Mapping[str, tuple[str, ...]]:
        """Return the words of each value that is said, with the other words that a slip must not bring them near."""
        shop = self._world.shop
        rivals: dict[str, tuple[str, ...]] = {}
        for mention in (mention for act in acts for mention in act.mentions):
            for fact in mention.facts:
                value = fact.constraint.value
                for word_said in (value,) if isinstance(value, str) else value if isinstance(value, tuple) else ():
                    if fact.kind is None or fact.constraint.attribute in ATTRIBUTES:
                        others = shop.words_in_category(self._categories[mention.singular], fact.constraint.attribute)
                    else:
                        others = tuple(part for other in fact.kind.values for part in other.casefold().split())
                    for part in word_said.casefold().split():
                        rivals[part] = rivals.get(part, ()) + others
        return rivals
