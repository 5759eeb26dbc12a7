"""What an agent asks, and when it asks no more."""

from __future__ import annotations

from ecom_rlve.evaluation.agents.inquiry import ANYTHING, Inquiry
from ecom_rlve.models import SaidAct, SaidFact, SaidItem

QUESTIONS = {name: f"Which {name}?" for name in ("day", "total", "thing")}


def told(*facts: tuple[str, str]) -> SaidAct:
    said = [SaidFact(slot=slot, attribute=slot, op="eq", value=value) for slot, value in facts]
    return SaidAct(kind="answer", items=[SaidItem(singular="order", plural="orders", facts=said)])


def test_what_was_told_is_not_asked_again_and_the_rest_is() -> None:
    inquiry = Inquiry()
    assert inquiry.ask(QUESTIONS) == "Which day? Which total? Which thing?"
    inquiry.hear([told(("day", "3 May")), SaidAct(kind="dont_know", attributes=["total"])])
    assert inquiry.ask(QUESTIONS) == "Which thing?"
    inquiry.hear([SaidAct(kind="no_preference", attributes=["thing"])])
    assert inquiry.ask(QUESTIONS) == ""


def test_of_several_things_more_is_asked_until_an_answer_brings_nothing_new() -> None:
    inquiry = Inquiry(several=("thing",))
    inquiry.hear([told(("thing", "a lamp"))])
    assert inquiry.open(["thing"])
    inquiry.hear([told(("thing", "a lamp"), ("thing", "a mug"))])
    assert inquiry.open(["thing"])
    inquiry.hear([told(("thing", "a mug"))])
    assert not inquiry.open(["thing"])


def test_nothing_is_asked_for_ever() -> None:
    inquiry = Inquiry()
    asked = [inquiry.ask({"day": "When?"}) for _ in range(9)]
    assert 0 < asked.index("") < 5
    inquiry.hear([SaidAct(kind="nothing_left")])
    assert not inquiry.open([ANYTHING])


def test_a_tool_at_a_time_questions_wait_until_nothing_is_left_to_look_at() -> None:
    inquiry, calls = Inquiry(), [{"name": "one"}, {"name": "two"}]
    assert inquiry.look(calls, QUESTIONS, "tool") == {"tool_calls": calls[:1], "end_turn": False}
    question = "Which day? Which total? Which thing?"
    assert inquiry.look(calls, QUESTIONS, "turn") == {"assistant_message": question, "tool_calls": calls}
