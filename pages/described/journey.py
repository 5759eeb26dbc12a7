"""The section of JOURNEY."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from describing import CHANGES, ORDERS, SEARCHED, TURNS, Counts, Described, Row, axis_row
from reward_sums import Sum, short

from ecom_rlve.envs.difficulty import AXES
from ecom_rlve.envs.episode.episode import Episode
from ecom_rlve.envs.tasks.journey.environment import intents_at


def _counts(played: Episode) -> Counts:
    intents = played.scenario.intents
    switched = sum(intent.is_interrupted for intent in intents)
    revisable = [intent for intent in intents if "p_switch" in intent.errand.about.axes]
    changed = sum(intent.revision is not None for intent in revisable)
    return {
        "intents": (len(intents), 1),
        "switched": (switched, len(intents)),
        "changed": (changed, len(revisable)),
    }


def _reward(played: Episode, _answer: dict[str, Any]) -> Sum:
    begun = played.conversation.begun
    verdicts = [(each.intent.errand.about.id, each.verdict.r_task) for each in begun if each.verdict]
    mean = sum((value for _, value in verdicts), Fraction(0)) / len(verdicts)
    values = " + ".join(short(value) for _, value in verdicts)
    return f"mean of {', '.join(name for name, _ in verdicts)}: ({values})/{len(verdicts)}", mean


DESCRIBED = Described(
    "JOURNEY",
    (
        *(row for row in SEARCHED if row is not TURNS),
        Row(
            "turns",
            f"{AXES['t_max'].number} turn budget, of all errands",
            "T_max·errands",
            lambda a: a.t_max * intents_at(a.d),
        ),
        axis_row("switched", "errands interrupted by the next", "p_switch"),
        CHANGES,
        ORDERS,
        Row("intents", "errands", "min(5, 2+⌊d/4⌋)", lambda a: intents_at(a.d)),
    ),
    _counts,
    _reward,
    difficulty=2,
    # Conversations about products are long.
    shows=lambda goal: not {"CART", "BUNDLE", "PD", "SUB"} & {intent["intent"] for intent in goal["intents"]},
)
