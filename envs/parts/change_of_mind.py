"""Whether and when a customer changes their mind (SPEC §6): decided before anything of the goal is drawn."""

from __future__ import annotations

from dataclasses import replace

from ecom_rlve.envs.errand import Change, Goal, Intent
from ecom_rlve.envs.goal import Slot
from ecom_rlve.envs.language.acts import Act, ActKind, Fact, Mention
from ecom_rlve.envs.world.world import World

_TURNS = 2
"""It falls in the reply to one of so many first closed turns."""


def turn_of_change(world: World, env_id: str) -> int | None:
    """Return the closed turn of an intent in reply to which the customer changes their mind; None if they do not.

    The draw depends on the episode alone: however often a goal is drawn again, it stays.
    """
    whether, when = world.streams.stream("change of mind", env_id).random(2).tolist()
    return 1 + int(when * _TURNS) if whether < world.axes.p_switch else None


def revising(intent: Intent[Goal], slot: Slot, fact: Fact, goal: Goal) -> Change | None:
    """Return the change that says ``fact`` in the place of a slot's; None if the slot is none of the intent's."""
    if slot not in intent.slots:
        return None
    subject = intent.subjects[slot.item]
    act = Act(ActKind.REVISE, (Mention(subject.singular, subject.plural, (fact,)),))
    slots = tuple(replace(each, fact=fact) if each == slot else each for each in intent.slots)
    return Change(act, goal, slots)
