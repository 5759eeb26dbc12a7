"""What the skills offer, and what they do not."""

from __future__ import annotations

from ecom_rlve.envs.episode.episode import Episode, EpisodeSpec
from ecom_rlve.envs.world.shop import Shop
from ecom_rlve.models import DomainCode, ToolResult
from ecom_rlve.training.learning.notebook import Notebook
from ecom_rlve.training.learning.policy import Candidate
from ecom_rlve.training.learning.runs import NOTES
from ecom_rlve.training.learning.skills.cards import counts_in
from ecom_rlve.training.learning.skills.policy_questions import holding
from ecom_rlve.training.learning.skills.returns import ReturnNotes

OUTCOMES = (
    "The trade-in rate varies with the account type. If yours is a private account: take off 2 percentage points. "
    "If yours is a business account: add 0.3 percentage points."
)


def begun(shop: Shop, env_id: str, difficulty: int, seed: int) -> tuple[Episode, Notebook]:
    episode = Episode(shop, EpisodeSpec(env_id, difficulty, seed, style="tool"), "skills", include=())
    return episode, NOTES[env_id](episode.opening)


def take(episode: Episode, notes: Notebook, chosen: Candidate) -> None:
    notes.note(chosen)
    notes.read(episode.step(dict(chosen.action)))


def offered(notes: Notebook, skill: str) -> list[Candidate]:
    return [each for each in notes.fresh_offers() if each.skill == skill]


def test_nothing_is_added_before_its_variants_were_listed(shop: Shop) -> None:
    episode, notes = begun(shop, "CART", 0, 0)
    take(episode, notes, offered(notes, "search sentence")[0])
    looks = offered(notes, "variants")
    assert looks
    assert not offered(notes, "add")
    take(episode, notes, looks[0])
    assert {each.action["tool_calls"][0]["args"]["product_id"] for each in offered(notes, "add")} == {
        looks[0].action["tool_calls"][0]["args"]["product_id"]
    }


def test_what_is_in_the_cart_is_not_added_again(shop: Shop) -> None:
    episode, notes = begun(shop, "CART", 0, 0)
    take(episode, notes, offered(notes, "search sentence")[0])
    take(episode, notes, offered(notes, "variants")[0])
    first = offered(notes, "add")[0]
    take(episode, notes, first)
    assert first.action not in [each.action for each in offered(notes, "add")]
    assert offered(notes, "remove")


def test_what_the_store_will_not_add_is_reported_by_its_id(shop: Shop) -> None:
    episode, notes = begun(shop, "CART", 0, 0)
    take(episode, notes, offered(notes, "search sentence")[0])
    take(episode, notes, offered(notes, "variants")[0])
    add = offered(notes, "add")[0]
    product_id = add.action["tool_calls"][0]["args"]["product_id"]
    notes.note(add)
    refused = ToolResult(name="cart_add", error="sold out", code=DomainCode.OUT_OF_STOCK)
    notes.read(episode.opening.model_copy(update={"user_message": "", "tool_results": [refused]}))
    assert not offered(notes, "add")
    (report,) = offered(notes, "report")
    assert product_id in report.action["assistant_message"]


def test_one_question_asks_for_all_that_an_item_lacks_once(shop: Shop) -> None:
    episode, notes = begun(shop, "CART", 0, 1)
    take(episode, notes, offered(notes, "search sentence")[0])
    (asks,) = offered(notes, "ask details")
    assert 1 <= len(asks.asks) <= 3
    take(episode, notes, asks)
    again = {topic for each in offered(notes, "ask details") for topic in each.asks}
    assert not again & set(asks.asks)


def test_refusing_is_another_skill_where_a_line_can_be_returned(shop: Shop) -> None:
    skills: dict[bool, set[str]] = {True: set(), False: set()}
    for seed in range(40):
        episode, notes = begun(shop, "RETURN", 0, seed)
        take(episode, notes, offered(notes, "list")[0])
        take(episode, notes, offered(notes, "check")[0])
        assert isinstance(notes, ReturnNotes)
        (can,) = notes.checked.values()
        skills[can] |= {each.skill for each in notes.fresh_offers() if each.skill.startswith("submit not_eligible")}
        if skills[True] and skills[False]:
            break
    assert skills[True]
    assert skills[False]
    assert not skills[True] & skills[False]


def test_a_look_is_offered_once(shop: Shop) -> None:
    episode, notes = begun(shop, "STATUS", 0, 0)
    chosen = offered(notes, "list")[0]
    take(episode, notes, chosen)
    assert chosen.action not in [each.action for each in notes.fresh_offers()]
    assert offered(notes, "get")


def test_an_answer_tells_how_much_it_lacks(shop: Shop) -> None:
    episode, notes = begun(shop, "POLICY", 3, 2)
    take(episode, notes, offered(notes, "search")[0])
    base = next(each for each in offered(notes, "read") if "near:best top,base:True" in each.features)
    take(episode, notes, base)
    kinds = {each.features[0] for each in offered(notes, "submit")}
    assert kinds == {"near:best top,base,", "near:best top,whole,2+"}


def test_outcomes_are_found_by_what_was_said() -> None:
    found = holding(OUTCOMES, "I was logged in to a private account.")
    assert found is not None
    assert found.amount == -2
    assert holding(OUTCOMES, "I paid in cash.") is None


def test_measures_and_names_are_no_counts() -> None:
    assert counts_in("one kettle of 5 kilos with PS/2") == [(1, 0)]
    assert counts_in("3 kites for $5") == [(3, 0)]
