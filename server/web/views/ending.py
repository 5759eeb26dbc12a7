"""How an episode ended: the reward taken apart, what went wrong in words, what the customer wanted."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from markupsafe import Markup

from ecom_rlve.models import EpisodeResult, Termination
from ecom_rlve.server.web.played import Played
from ecom_rlve.server.web.views.comparing import Revealed, differences
from ecom_rlve.server.web.views.html import el, together
from ecom_rlve.server.web.views.naming import in_words, shown
from ecom_rlve.server.web.views.scene import call, transcript

_ENDINGS = {
    Termination.ANSWERED: "The final answer was submitted.",
    Termination.FORMAT_FAILURE: "The output broke the format, which ends an episode at once and costs everything.",
    Termination.TURN_BUDGET: "The turns were spent without a final answer.",
    Termination.CUSTOMER_LEFT: "The customer lost patience and left.",
}
_PARTS = (
    ("task", "r_task", "how well the job was done"),
    ("eff", "r_eff", "how few turns it took"),
    ("hall", "r_hall", "whether every product id had been shown"),
)


def banner(played: Played, revealed: Revealed | None) -> Markup:
    """Return how an ended episode went; without ``revealed`` neither the goal nor files to download."""
    now = played.latest
    if now.result is None:
        why = now.infra_error or "it was not played to its end"
        return el(
            "section", el("h2", "No result"), el("p", f"The episode has no result: {why}."), class_="ending failed"
        )
    result = now.result
    wrong = differences(played, revealed) if revealed is not None and not result.is_correct else ()
    verdict = "Correct" if result.is_correct else "Not correct"
    return el(
        "section",
        el("h2", f"{verdict}: reward ", el("b", f"{result.r_total:+.2f}")),
        el("ul", together(el("li", sentence) for sentence in (*_in_words(result), *wrong))),
        _taken_apart(result),
        _goal(revealed) if revealed is not None else None,
        _downloads(played, revealed) if revealed is not None else None,
        class_=f"ending {'won' if result.is_correct else 'lost'}",
        role="status",
    )


def _in_words(result: EpisodeResult) -> Iterator[str]:
    yield _ENDINGS.get(result.termination, f"It ended by {in_words(result.termination).lower()}.")
    if result.reason:
        yield f"Reason: {result.reason}."
    if result.termination == Termination.FORMAT_FAILURE:
        return
    if result.r_task >= 1:
        yield "The job was done perfectly."
    elif result.r_task <= -1:
        yield "Nothing of the job was done."
    else:
        yield f"The job was done in part: {result.r_task:+.2f} on a scale from -1 to +1. Compare with the goal below."
    yield _efficiency(result)
    if result.r_hall < 0:
        yield f"{-result.r_hall:.0%} of the product ids used had not been shown by any result. Such ids earn nothing."
    for code, times in result.tool_errors.items():
        yield f"A tool refused {times}×: {in_words(code).lower()}."


def _efficiency(result: EpisodeResult) -> str:
    excused = result.turns - result.effective_turns
    gift = f", {excused} of them caused by the customer and not counted" if excused else ""
    speed = "" if result.is_correct else " Speed earns nothing where the job is not done."
    return f"It took {result.turns} turn{'s' if result.turns != 1 else ''}{gift}.{speed}"


def _taken_apart(result: EpisodeResult) -> Markup:
    profile = result.reward_profile
    rows = []
    for part, name, meaning in _PARTS:
        weight, value = getattr(profile, part), getattr(result, name)
        cells = (el("code", name), meaning, f"{value:+.2f}", f"× {weight:g}", f"{weight * value:+.3f}")
        rows.append(el("tr", together(el("td", cell) for cell in cells)))
    total = (el("code", "r_total"), "the reward", "", "", el("b", f"{result.r_total:+.3f}"))
    rows.append(el("tr", together(el("td", cell) for cell in total)))
    head = together(el("th", name, scope="col") for name in ("part", "meaning", "value", "weight", "adds"))
    grid = el("table", el("thead", el("tr", head)), el("tbody", together(rows)))
    failed = result.termination == Termination.FORMAT_FAILURE
    note = el("p", "After a format failure the total is -1, whatever the parts.", class_="dim") if failed else None
    return el("div", el("div", grid, class_="scrolls", tabindex="0", role="region", aria_label="Reward"), note)


def _goal(revealed: Revealed) -> Markup:
    way = [call(name, _titled(args, revealed.title_of)) for name, args in revealed.solution]
    return el(
        "div",
        el("h3", "What the customer wanted"),
        _tree(revealed.goal, revealed.title_of),
        el("h3", "How an agent that knows the goal does it"),
        together(way),
        class_="goal",
    )


def _tree(value: Any, title_of: Callable[[str], str | None], name: str = "") -> Markup:
    """Return nested values as nested lists, ids of products with their titles."""
    if isinstance(value, Mapping):
        items = [
            el("li", el("span", f"{in_words(key.removesuffix('_id'))}: ", class_="dim"), _tree(each, title_of, key))
            for key, each in value.items()
            if each not in (None, [], "")
        ]
        return el("ul", together(items))
    if isinstance(value, list | tuple) and _is_constraint(value):
        return el("span", _constraint(value))
    if isinstance(value, list | tuple) and value:
        # Things are numbered, words are not: a thing's own list begins in the same line.
        kind = "ol" if any(isinstance(each, Mapping) for each in value) else "ul"
        return el(kind, together(el("li", _tree(each, title_of, name)) for each in value))
    title = title_of(value) if isinstance(value, str) else None
    if title is not None:
        return el("span", title, " ", el("code", value))
    return el("span", shown(value, name))


def _is_constraint(value: Sequence[Any]) -> bool:
    """Tell whether a value is an attribute, an operator and what it is compared with."""
    return len(value) == 3 and isinstance(value[0], str) and isinstance(value[1], str) and value[1] in _OPERATORS


_OPERATORS = {
    "eq": "is",
    "at_least": "at least",
    "at_most": "at most",
    "between": "between",
    "none_of": "none of",
    "any_of": "one of",
}


def _constraint(value: Sequence[Any]) -> str:
    attribute, operator, wanted = value
    # Goals hold prices in cents.
    if attribute == "price":
        wanted = [each / 100 for each in wanted] if isinstance(wanted, list | tuple) else wanted / 100
    parts = wanted if isinstance(wanted, list | tuple) else [wanted]
    joint = " and " if operator == "between" else ", "
    told = joint.join(shown(float(each) if attribute == "price" else each, attribute) for each in parts)
    return f"{in_words(attribute).lower()} {_OPERATORS[operator]} {told}"


def _titled(args: Mapping[str, Any], title_of: Callable[[str], str | None]) -> dict[str, Any]:
    """Return arguments with the titles of the products that they name."""

    def told(value: Any) -> Any:
        title = title_of(value) if isinstance(value, str) else None
        return value if title is None else f"{title} [{value}]"

    return {name: [told(v) for v in value] if isinstance(value, list) else told(value) for name, value in args.items()}


def _downloads(played: Played, revealed: Revealed) -> Markup:
    metadata = played.metadata
    name = f"{metadata.env_id.lower()}-d{metadata.difficulty}-{metadata.seed}"
    files = (
        (f"{name}.md", "text/markdown", transcript(played), "Transcript"),
        (f"{name}.jsonl", "application/x-ndjson", revealed.trace, "Trace"),
    )
    links = [
        el("a", label, href=f"data:{kind};base64,{b64encode(text.encode()).decode()}", download=file, class_="download")
        for file, kind, text, label in files
    ]
    return el("p", "Download: ", together(links), class_="downloads")
