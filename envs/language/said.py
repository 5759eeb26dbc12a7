"""The customer's acts as data, for scripted agents on a server that discloses acts (SPEC §10)."""

from __future__ import annotations

from collections.abc import Iterable

from ecom_rlve.envs.language.acts import Act, Fact, Mention
from ecom_rlve.models import EpisodeMetadata, SaidAct, SaidFact, SaidItem, StepMetadata


def said_acts(acts: Iterable[Act]) -> list[SaidAct]:
    """Return acts as data. An act holds only what its sentences say, so nothing unsaid is disclosed."""
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
    """Return an episode's metadata with the customer's latest acts, as a server that discloses acts sends them."""
    return StepMetadata(**metadata.model_dump(), acts=said_acts(acts))


def _item(mention: Mention) -> SaidItem:
    return SaidItem(singular=mention.singular, plural=mention.plural, facts=[_fact(fact) for fact in mention.facts])


def _fact(fact: Fact) -> SaidFact:
    constraint = fact.constraint
    value = list(constraint.value) if isinstance(constraint.value, tuple) else constraint.value
    return SaidFact(slot=fact.slot, attribute=constraint.attribute, op=constraint.op.value, value=value, unit=fact.unit)
