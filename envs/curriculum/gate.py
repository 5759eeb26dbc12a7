"""The adaptive curriculum of RLVE: a frontier per environment, style and format that climbs with success (SPEC §8).

The gate counts *seeds*, not episodes. The episodes of a group share seed and policy, so their outcomes are hardly
independent: counted one by one, a group of eight equal ones would be one sample counted eight times.

What is counted, and how, does not depend on the order in which episodes end, as long as the gate falls after them.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from ecom_rlve.envs.curriculum.ledger import MOST_DENOMINATOR, Frontier, Key, Ledger, Outcome, Seed
from ecom_rlve.models import Format, Style, Uncounted
from ecom_rlve.run_models import CurriculumParameters
from ecom_rlve.streams import stream


def drawn_difficulty(level: int, window: int, env_id: str, style: Style, seed: int) -> int:
    """Return the difficulty of an episode, uniform over the window below the frontier; a function of the seed."""
    low = max(0, level - window + 1)
    return int(stream(seed, "difficulty", env_id, style).integers(low, level + 1))


class Curriculum:
    """The curriculum of one run. Difficulties never go down; an episode is counted once, whoever reports its end."""

    def __init__(self, ledger: Ledger, parameters: CurriculumParameters | None = None) -> None:
        self._ledger = ledger
        self.parameters = parameters or CurriculumParameters()

    def level(self, key: Key) -> int:
        """Return the highest difficulty that is drawn."""
        return self._ledger.frontier(key).level

    def draw(self, env_id: str, style: Style, format: Format, seed: int) -> int:
        """Return the difficulty of an episode."""
        level = self.level((env_id, style, format))
        return drawn_difficulty(level, self.parameters.window, env_id, style, seed)

    def issue(self, key: Key, difficulty: int, number: int, *, is_grouped: bool = False) -> None:
        """Note that a seed was drawn for this run, with its difficulty: its episodes may count."""
        if difficulty == self.level(key) and self._ledger.seed(key, number) is None:
            self._ledger.put_seed(key, number, Seed(is_grouped))

    def why_not(self, key: Key, difficulty: int, number: int, episode_id: str) -> Uncounted | None:
        """Return why an episode would not be counted; None if it would."""
        level = self.level(key)
        if difficulty < level:
            return Uncounted.BELOW_FRONTIER
        seed = self._ledger.seed(key, number)
        if seed is None or difficulty > level:
            return Uncounted.NOT_DRAWN
        if seed.is_judged:
            return Uncounted.JUDGED
        if self._ledger.standing(key, number, episode_id) is not None:
            return Uncounted.REPEATED
        return None

    def begin(self, key: Key, difficulty: int, number: int, episode_id: str) -> Uncounted | None:
        """Note that an episode is played; return why it is not counted, None if it is."""
        why = self.why_not(key, difficulty, number, episode_id)
        seed = self._ledger.seed(key, number)
        if why is None and seed is not None:
            self._ledger.put_standing(key, number, episode_id, "live")
            self._ledger.put_seed(key, number, replace(seed, live=seed.live + 1))
        return why

    def end(self, key: Key, number: int, episode_id: str, outcome: Outcome | None, highest: int) -> bool:
        """Count the end of an episode that was begun; return whether it was counted.

        ``outcome`` is None where the episode says nothing: no step was taken, or a fault of ours ended it. An episode
        that is not (or no longer) known as live is late and changes nothing. ``highest`` is the most difficult level
        that the catalog can serve: the frontier stops there.
        """
        seed = self._ledger.seed(key, number)
        if seed is None or self._ledger.standing(key, number, episode_id) != "live":
            return False
        seed = replace(seed, live=seed.live - 1)
        if isinstance(outcome, Fraction):
            outcome = outcome.limit_denominator(MOST_DENOMINATOR)
        if outcome is not None:
            seed = seed.with_outcome(outcome)
        self._ledger.put_standing(key, number, episode_id, outcome)
        if seed.is_dropped:
            self._ledger.forget_episodes(key, number)
            seed = Seed(is_grouped=True)
        self._ledger.put_seed(key, number, seed)
        if seed.is_ready:
            self._judge(key, highest)
        return outcome is not None

    def _judge(self, key: Key, highest: int) -> None:
        """Judge the frontier if enough seeds are ready."""
        rules = self.parameters
        if self._ledger.count_ready(key) < rules.tau_num:
            return
        ready = self._ledger.ready(key)
        total = sum((seed.mean for _, seed in ready), Fraction(0))
        frontier = self._ledger.frontier(key)
        passes = frontier.passes + 1 if total >= Fraction(str(rules.tau_acc)) * len(ready) else 0
        if passes >= rules.passes and frontier.level < highest:
            # What was counted at the old level says nothing about the new one.
            self._ledger.forget_seeds(key)
            self._ledger.put_frontier(key, Frontier(frontier.level + 1))
            return
        self._ledger.put_frontier(key, Frontier(frontier.level, min(passes, rules.passes)))
        for number, seed in ready:
            # A judged seed takes no more episodes, so their ids need not be known.
            self._ledger.forget_episodes(key, number)
            self._ledger.put_seed(key, number, replace(seed, is_judged=True))
