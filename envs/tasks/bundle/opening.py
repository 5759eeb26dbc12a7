"""The opening of BUNDLE."""

from __future__ import annotations

from collections.abc import Collection

from ecom_rlve.envs.errand import Intent, facts_of_item
from ecom_rlve.envs.goal import Slot
from ecom_rlve.envs.language.acts import Act, ActKind, Mention
from ecom_rlve.envs.language.frames import frames_in
from ecom_rlve.envs.tasks.bundle.facts import PROJECT
from ecom_rlve.envs.tasks.bundle.goal import BundleGoal

_OPENING = frames_in(__package__)["open_bundle"]


def opening(intent: Intent[BundleGoal], said: Collection[Slot]) -> Act:
    """Return the first act."""
    project = intent.goal.project
    mentions = []
    for item, subject in enumerate(intent.subjects):
        facts = facts_of_item(intent.slots, item, said)
        # The project is always mentioned: with two or more mentions every sentence names what it is about.
        if facts or item == PROJECT:
            mentions.append(Mention(subject.singular, subject.plural, facts))
    places = (("plan", project.plan), ("project", project.name))
    return Act(ActKind.OPEN, tuple(mentions), frames=_OPENING, places=places, says=places)
