"""The customer's acts as data: what a server that discloses acts shows to scripted agents (SPEC §10)."""

from __future__ import annotations

from collections.abc import Iterable

from ecom_rlve.envs.language.acts import Act, Fact, Mention
from ecom_rlve.models import EpisodeMetadata, SaidAct, SaidFact, SaidItem, StepMetadata


def said_acts(acts: Iterable[Act]) -> list[SaidAct]:
    """Return what acts say. An act holds nothing that its sentences do not say, so nothing unsaid can be in it."""
    return [
        SaidAct(
            kind=act.kind.value,
            items=[_item(mention) for mention in act.mentions],
            attributes=list(act.attributes),
            title=act.title,
            says=dict(act.says),
            intent=act.intent,
        )
        for act in acts
    ]


def with_acts(metadata: EpisodeMetadata, acts: Iterable[Act]) -> StepMetadata:
    """Return the metadata of a step with the customer's acts in it, as a server that discloses them sends it."""
    return StepMetadata(**metadata.model_dump(), acts=said_acts(acts))


def _item(mention: Mention) -> SaidItem:
    return SaidItem(singular=mention.singular, plural=mention.plural, facts=[_fact(fact) for fact in mention.facts])


def _fact(fact: Fact) -> SaidFact:
    constraint = fact.constraint
    value = list(constraint.value) if isinstance(constraint.value, tuple) else constraint.value
    return SaidFact(slot=fact.slot, attribute=constraint.attribute, op=constraint.op.value, value=value, unit=fact.unit)
