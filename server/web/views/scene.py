"""The episode on the page: the conversation, and beside it budget, cart and orders."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from markupsafe import Markup

from ecom_rlve.models import Observation
from ecom_rlve.server.web.played import Move, Played, cart_of, orders_of
from ecom_rlve.server.web.views.html import el, together
from ecom_rlve.server.web.views.naming import shown, tool_name
from ecom_rlve.server.web.views.offers import SUBMIT, Offers
from ecom_rlve.server.web.views.results import order_line, show_result, table

_ASK = "ask_user"
_LONGEST_JOB = 600
"""Characters of the job that are always in view; that of a journey holds those of seven environments."""
_LONGEST = 4000
"""Most characters that are shown of what an agent writes: a model may write half a megabyte."""


def conversation(played: Played, offers: Offers, *, can_act: bool) -> Markup:
    """Return the conversation so far; of results only those of the latest move can be clicked.

    The script finds the episode's id at it, and whether one can act.
    """
    said = list(_opening(played))
    for number, move in enumerate(played.moves, 1):
        is_latest = number == len(played.moves)
        said.append(el("div", together(_move(move, offers)), class_="move latest" if is_latest else "move"))
    return el(
        "div",
        together(said),
        class_="talked",
        role="log",
        aria_label="Conversation",
        tabindex="0",
        data_episode=played.episode_id,
        data_done=data_flag(not can_act),
    )


def data_flag(value: bool) -> str:
    """Return a flag as a style sheet and a script compare it."""
    return "yes" if value else "no"


def beside(played: Played, offers: Offers) -> Markup:
    """Return budget, cart and orders."""
    return el("div", _budget(played), _cart(played, offers), _orders(played, offers), class_="beside")


def brief(played: Played) -> Markup:
    """Return what the agent is told of its job."""
    text = played.opening.instructions or ""
    job, _, rest = text.partition("\n")
    head_of_job = _head_of(job)
    further = text if len(head_of_job) < len(job) else rest
    told = el("details", el("summary", "All instructions"), el("pre", further)) if further else None
    head = f"{played.metadata.env_id} · difficulty {played.metadata.difficulty} · seed {played.metadata.seed}"
    today = f"Today is {played.opening.today}." if played.opening.today else None
    return el("div", el("p", head, class_="dim"), el("p", head_of_job), el("p", today), told, class_="brief")


def _head_of(job: str) -> str:
    """Return the first sentences of a job, as many as one reads before the conversation, and at least one."""
    sentences = job.split(". ")
    kept = sentences[0]
    for sentence in sentences[1:]:
        if len(kept) + len(sentence) > _LONGEST_JOB:
            return f"{kept}."
        kept = f"{kept}. {sentence}"
    return kept


def transcript(played: Played) -> str:
    """Return the episode as Markdown."""
    metadata = played.metadata
    lines = [f"# {metadata.env_id}, difficulty {metadata.difficulty}, seed {metadata.seed}", ""]
    lines += [f"**Customer:** {played.opening.user_message}", ""]
    for move in played.moves:
        words, calls = _action(move.action)
        lines += [f"**Agent:** {words}", ""] if words else []
        lines += [f"- `{name}({json.dumps(args, ensure_ascii=False)})`" for name, args in calls]
        for result in move.seen.tool_results:
            told = result.error or json.dumps(result.result, ensure_ascii=False)
            lines.append(f"  - {result.name}: {told}")
        lines.append("")
        if move.seen.user_message:
            lines += [f"**Customer:** {move.seen.user_message}", ""]
    if played.latest.result is not None:
        lines += [f"Reward: {played.latest.result.r_total:+.2f} ({played.latest.result.termination})", ""]
    return "\n".join(lines)


def _opening(played: Played) -> Iterator[Markup]:
    yield _bubble("customer", "Customer", played.opening.user_message)


def _move(move: Move, offers: Offers) -> Iterator[Markup]:
    words, calls = _action(move.action)
    if words:
        yield _bubble("agent", "Agent", words)
    questions = [args.get("question", "") for name, args in calls if name == _ASK]
    for question in questions:
        yield _bubble("agent", "Agent asks", str(question))
    done = [call(name, args) for name, args in calls if name != _ASK]
    if done:
        yield el("div", together(done), class_="calls")
    for result in move.seen.tool_results:
        if result.name != _ASK or result.error is not None:
            yield show_result(result, offers)
    if move.seen.user_message:
        yield _bubble("customer", "Customer", move.seen.user_message)


def call(name: str, args: Mapping[str, Any]) -> Markup:
    """Return one tool call, or a submitted answer, as a line."""
    told = ", ".join(f"{key}: {shown(value)}" for key, value in args.items())
    return el("p", el("b", tool_name(name)), f" {told}" if told else "", class_="call")


def _bubble(who: str, name: str, text: str) -> Markup:
    words = text if len(text) <= _LONGEST else f"{text[:_LONGEST]} … ({len(text):,} characters)"
    return el("div", el("span", name, class_="who"), el("p", words), class_=f"bubble {who}")


def _action(action: Mapping[str, Any]) -> tuple[str, list[tuple[str, dict[str, Any]]]]:
    """Return what an action says, and its calls and answer by name."""
    words = action.get("text") or action.get("assistant_message") or action.get("content") or ""
    calls = [_call(each) for each in action.get("tool_calls") or () if isinstance(each, Mapping)]
    if isinstance(action.get("answer"), Mapping):
        calls.append((SUBMIT, dict(action["answer"])))
    return words if isinstance(words, str) else json.dumps(words, ensure_ascii=False), calls


def _call(call: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    body = call["function"] if isinstance(call.get("function"), Mapping) else call
    args = body.get("args", body.get("arguments", {}))
    return str(body.get("name", "?")), dict(args) if isinstance(args, Mapping) else {"arguments": args}


def _budget(played: Played) -> Markup:
    first, now = played.opening, played.latest
    figures = [
        _figure("Turns left", now.turns_left, first.max_turns or 0),
        _figure("Calls left in this turn", now.tool_calls_left, first.tool_budget or 0),
    ]
    return el("section", el("h3", "Budget"), together(figures), _full(now))


def _full(now: Observation) -> Markup | None:
    if now.done or now.tool_calls_left:
        return None
    return el("p", "This turn is full: the next call opens another turn.", class_="dim")


def _figure(name: str, left: int, most: int) -> Markup:
    # Turns that the customer causes are given back, so that there may be more left than at first.
    share = min(100, round(100 * left / most)) if most else 0
    bar = el("div", el("div", style=f"width:{share}%"), class_="bar", aria_hidden="true")
    return el("div", el("span", name), el("b", f"{left} of {most}"), bar, class_="figure")


def _cart(played: Played, offers: Offers) -> Markup | None:
    lines = cart_of(played)
    names = {schema["function"]["name"] for schema in played.opening.tools or ()}
    if not lines and not any(name.startswith("cart_") for name in names):
        return None
    total = sum(_price(line) * int(line.get("quantity", 1)) for line in lines)
    body = (
        table([_short_line(line) for line in lines], offers, {}, "Cart") if lines else el("p", "Empty.", class_="dim")
    )
    summed = el("p", "Together ", el("b", shown(float(total), "total", lines[0].get("currency")))) if lines else None
    return el("section", el("h3", "Cart"), body, summed)


def _price(line: Mapping[str, Any]) -> float:
    """Return a line's price, or the least that it may be; 0 where it is not known."""
    return float(line.get("price") or line.get("price_from") or 0)


def _short_line(line: Mapping[str, Any]) -> dict[str, Any]:
    kept = ("product_id", "variant_id", "in_stock", "price_from", "line_id", "title", "quantity", "price", "currency")
    variant = ", ".join(shown(value, name) for name, value in line.items() if name not in kept)
    title = f"{line.get('title', '')}{f' ({variant})' if variant else ''}"
    price = shown(_price(line), "price", line.get("currency"))
    return {"line_id": line["line_id"], "title": title, "quantity": line.get("quantity"), "price": price}


def _orders(played: Played, offers: Offers) -> Markup | None:
    orders = orders_of(played)
    if not orders:
        return None
    shown_orders = [_order(order, offers, is_open=not number) for number, order in enumerate(orders)]
    return el("section", el("h3", "Orders"), together(shown_orders))


def _order(order: Mapping[str, Any], offers: Offers, *, is_open: bool) -> Markup:
    order_id = {"order_id": order["order_id"]}
    head = el("summary", f"{order.get('date', '')} · {order.get('status', '')} ", el("code", order["order_id"]))
    lines = [order_line(line["line_id"], _of_line(line), offers, order_id) for line in order.get("lines", ())]
    return el("details", head, el("ul", together(lines)), class_="order", open=is_open)


def _of_line(line: Mapping[str, Any]) -> tuple[str, str]:
    """Return a line's title, and its price where it is known."""
    price = line.get("price")
    return str(line.get("title", "")), "" if price is None else shown(float(price), "price")
