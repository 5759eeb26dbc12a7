"""The verdict of an episode, made of the verdicts of its intents (SPEC §4, §6)."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from ecom_rlve.envs.answer import Answer
from ecom_rlve.envs.customer.conversation import Conversation
from ecom_rlve.envs.errand import Intent
from ecom_rlve.envs.goal import Verdict


def judged(intent: Intent[Any], answer: Answer) -> Verdict:
    """Judge an intent by the answer that closes it; an answer that names another intent scores -1."""
    about = intent.errand.about
    own = answer.own(about.answer) if answer.names(about.id) else None
    return forfeited(intent) if own is None else intent.errand.verify(intent, own)


def forfeited(intent: Intent[Any]) -> Verdict:
    """Judge an intent that got no answer: r_task is -1, but its output ids still count (SPEC §4)."""
    return Verdict(Fraction(-1), correct=False, output_ids=intent.errand.verify(intent, None).output_ids)


def episode_verdict(conversation: Conversation) -> Verdict:
    """Return the verdict of the episode: that of its only intent, or the mean of several.

    An intent that was never closed, or never begun, scores -1.
    """
    if len(conversation.intents) == 1:
        (begun,) = conversation.begun
        return begun.verdict or forfeited(begun.intent)
    verdicts = [begun.verdict for begun in conversation.begun if begun.verdict is not None]
    world, count = conversation.intents[0].world, len(conversation.intents)
    missing = count - len(verdicts)
    shown = world.shown_ids()
    right = sum(verdict.correct and shown.issuperset(verdict.output_ids) for verdict in verdicts)
    return Verdict(
        r_task=Fraction(sum(verdict.r_task for verdict in verdicts) - missing, count),
        correct=all(verdict.correct for verdict in verdicts) and not missing,
        output_ids=(*(found for verdict in verdicts for found in verdict.output_ids), *world.cart_ids()),
        share=Fraction(right, count),
    )
