"""What is kept of what was said: the latest of each fact, several of a slot where they are about different things."""

import pytest

from ecom_rlve.client import StepResult
from ecom_rlve.envs.episode.episode import Episode, EpisodeSpec
from ecom_rlve.envs.world.shop import Shop
from ecom_rlve.evaluation.expert.heard import ActsNotDisclosedError, Heard, acts_of
from ecom_rlve.models import SaidAct, SaidFact, SaidItem, StepMetadata


def fact(slot: str, value: str | float, attribute: str = "") -> SaidFact:
    return SaidFact(slot=slot, attribute=attribute or slot, op="eq", value=value)


def lamp(*facts: SaidFact) -> SaidItem:
    return SaidItem(singular="lamp", plural="lamps", facts=list(facts))


def test_what_was_said_last_counts() -> None:
    heard = Heard()
    heard.hear([SaidAct(kind="open", items=[lamp(fact("brand", "Acme"), fact("quantity", 1))])])
    heard.hear([SaidAct(kind="revise", items=[lamp(fact("quantity", 2))])])
    heard.hear([SaidAct(kind="revise", items=[lamp(fact("quantity", 1))])])
    assert heard.items["lamp"].facts == {"brand": fact("brand", "Acme"), "quantity": fact("quantity", 1)}
    assert heard.items["lamp"].latest() == [fact("brand", "Acme"), fact("quantity", 1)]


def test_a_slot_may_hold_facts_about_several_attributes() -> None:
    heard = Heard()
    kept = [fact("compatibility", "wool", "material"), fact("compatibility", "plain", "pattern")]
    heard.hear([SaidAct(kind="open", items=[lamp(*kept)], says={"title": "Old Lamp"})])
    assert heard.items["lamp"].latest() == kept
    assert heard.says == {"title": "Old Lamp"}


def test_what_is_free_and_what_nobody_knows() -> None:
    heard = Heard()
    heard.hear([SaidAct(kind="no_preference", items=[lamp()], attributes=["color"])])
    heard.hear([SaidAct(kind="no_preference", attributes=["price"]), SaidAct(kind="dont_know", attributes=["id"])])
    assert (heard.items["lamp"].free, heard.free, heard.unknown) == ({"color"}, {"price"}, {"id"})
    assert [act.kind for act in heard.latest] == ["no_preference", "dont_know"]


def test_who_is_told_no_acts_is_deaf(shop: Shop) -> None:
    episode = Episode(shop, EpisodeSpec("CART"), "episode")
    with pytest.raises(ActsNotDisclosedError, match="ECOM_RLVE_DISCLOSE_ACTS=true"):
        acts_of(StepResult(episode.opening, None, False, StepMetadata(**episode.metadata.model_dump())))
