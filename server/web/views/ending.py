"""How an episode ended: the reward taken apart, what went wrong in words, what the customer wanted."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from markupsafe import Markup

from ecom_rlve import constraint_words
from ecom_rlve.models import EpisodeResult
from ecom_rlve.reward_words import ending, parts, total
from ecom_rlve.server.web.played import Played
from ecom_rlve.server.web.views.comparing import Revealed, differences
from ecom_rlve.server.web.views.html import el, together
from ecom_rlve.server.web.views.naming import in_words, shown
from ecom_rlve.server.web.views.scene import call, transcript


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
        el("ul", together(el("li", sentence) for sentence in (ending(result), *_refusals(result), *wrong))),
        _taken_apart(result, played.opening.max_turns or result.turns),
        _goal(revealed) if revealed is not None else None,
        _downloads(played, revealed) if revealed is not None else None,
        class_=f"ending {'won' if result.is_correct else 'lost'}",
        role="status",
    )


def _refusals(result: EpisodeResult) -> Iterator[str]:
    for code, times in result.tool_errors.items():
        yield f"A tool refused {times}×: {in_words(code).lower()}."


def _taken_apart(result: EpisodeResult, max_turns: int) -> Markup:
    rows = []
    for part in parts(result, max_turns, ()):
        number = f"{part.value:+.2f}", f"× {part.weight:g}", f"{part.weight * part.value:+.3f}"
        rows.append(el("tr", together(el("td", cell) for cell in (el("code", part.name), *number, part.why))))
    head = together(el("th", name, scope="col") for name in ("part", "earned", "weight", "adds", "why"))
    grid = el("table", el("thead", el("tr", head)), el("tbody", together(rows)))
    return el(
        "div",
        el("div", grid, class_="scrolls", tabindex="0", role="region", aria_label="Reward"),
        el("p", total(result), class_="dim"),
    )


def _goal(revealed: Revealed) -> Markup:
    way = [call(name, _titled(args, revealed.title_of)) for name, args in revealed.solution]
    return el(
        "div",
        el("h3", "What the customer wanted"),
        _tree(revealed.goal, revealed),
        el("h3", "How an agent that knows the goal does it"),
        together(way),
        class_="goal",
    )


def _tree(value: Any, revealed: Revealed, name: str = "") -> Markup:
    """Return nested values as nested lists, ids of products with their titles."""
    if isinstance(value, Mapping):
        items = [
            el("li", el("span", f"{in_words(key.removesuffix('_id'))}: ", class_="dim"), _tree(each, revealed, key))
            for key, each in value.items()
            if each not in (None, [], "")
        ]
        return el("ul", together(items))
    if constraint_words.is_constraint(value):
        return el("span", _constraint(value, revealed.currency))
    if isinstance(value, list | tuple) and value:
        # Things are numbered, words are not: a thing's own list begins in the same line.
        kind = "ol" if any(isinstance(each, Mapping) for each in value) else "ul"
        return el(kind, together(el("li", _tree(each, revealed, name)) for each in value))
    title = revealed.title_of(value) if isinstance(value, str) else None
    if title is not None:
        return el("span", title, " ", el("code", value))
    return el("span", shown(value, name))


def _constraint(value: Sequence[Any], currency: str | None) -> str:
    return constraint_words.in_words(value, lambda attribute, each: shown(each, attribute, currency))


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
