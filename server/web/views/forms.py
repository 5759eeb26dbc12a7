"""A form for every tool, generated from its schema: names with choices, prices as numbers, the rest as text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from markupsafe import Markup

from ecom_rlve.server.web.views.html import el, together
from ecom_rlve.server.web.views.naming import in_words, tool_name
from ecom_rlve.server.web.views.offers import SUBMIT

Choices = Mapping[str, Sequence[str]]
"""Values that an argument may have, by its name."""
_AT_HAND = 6
"""Optional fields that are shown at once; further ones are behind "More filters"."""
_MOST_OPTIONS = 200
"""Most choices of a drop-down list; more of them are suggested while one types."""
_SPOKEN = "ask_user"
"""Has a form of its own, where one talks to the customer."""


def desk(schemas: Sequence[Mapping[str, Any]], choices: Choices) -> Markup:
    """Return where the visitor acts: words, tools, answer, raw output."""
    tools = [schema["function"] for schema in schemas]
    answer = next((tool for tool in tools if tool["name"] == SUBMIT), None)
    listed = [tool for tool in tools if tool["name"] not in (SUBMIT, _SPOKEN)]
    chosen = [
        el(
            "button",
            tool_name(tool["name"]),
            type="button",
            class_="tool",
            data_tool=tool["name"],
            aria_pressed="false",
        )
        for tool in listed
    ]
    forms = [_tool_form(tool, choices) for tool in listed]
    return el(
        "div",
        _talk(),
        el("section", el("h3", "Use a tool"), el("div", together(chosen), class_="tools"), together(forms)),
        _answer_form(answer, choices) if answer is not None else None,
        _raw_form(),
        together(el("datalist", together(_options(values)), id=f"list-{name}") for name, values in choices.items()),
        class_="desk",
    )


def control(name: str, schema: Mapping[str, Any], *, of: str, is_required: bool, choices: Choices) -> Markup:
    """Return the control of one argument; ``of`` is the form's name."""
    identity = f"{of}-{name}"
    options: dict[str, Any] = {"id": identity, "name": name, "required": is_required, "data_type": _type(schema)}
    values = schema.get("enum") or choices.get(name)
    if schema.get("type") == "boolean":
        box = el("select", el("option", "any", value=""), el("option", "yes", value="true"), **options)
    elif values and (schema.get("enum") or len(values) <= _MOST_OPTIONS):
        blank = None if is_required and schema.get("enum") else el("option", "", value="")
        default = schema.get("default")
        given = [el("option", in_words(v) if schema.get("enum") else v, value=v, selected=v == default) for v in values]
        box = el("select", blank, together(given), **options)
    elif _type(schema) in ("number", "integer"):
        bounds = {"min": schema.get("minimum"), "max": schema.get("maximum"), "value": schema.get("default")}
        step = "1" if _type(schema) == "integer" else "any"
        box = el("input", type="number", step=step, inputmode="decimal", **bounds, **options)
    else:
        box = _text_box(name, schema, options, has_list=bool(values))
    hint = schema.get("description")
    label = el("label", in_words(name), "" if is_required else el("span", " optional", class_="dim"), for_=identity)
    return el("div", label, box, el("small", hint) if hint else None, class_="field")


def _text_box(name: str, schema: Mapping[str, Any], options: dict[str, Any], *, has_list: bool) -> Markup:
    suggested = f"list-{name}" if has_list else None
    # Ids take the place of ids: a list of them is written in one line, and a click adds another.
    return el("input", type="text", maxlength=schema.get("maxLength"), list=suggested, autocomplete="off", **options)


def _talk() -> Markup:
    box = el("textarea", id="say", name="text", rows="2", required=True, maxlength="4000")
    return el(
        "form",
        el("label", "Say to the customer", el("span", " closes the turn", class_="dim"), for_="say"),
        box,
        el("button", "Say", type="submit", class_="primary"),
        class_="talk",
        data_kind="say",
    )


def _tool_form(tool: Mapping[str, Any], choices: Choices) -> Markup:
    name = tool["name"]
    heading = el("p", tool.get("description", ""), class_="dim")
    fields = _fields(name, tool.get("parameters", {}), choices)
    run = el("button", f"Run: {tool_name(name)}", type="submit", class_="primary")
    label = f"{tool_name(name)} ({name})"
    return el("form", heading, fields, run, data_kind="call", data_form=name, aria_label=label, hidden=True)


def _answer_form(tool: Mapping[str, Any], choices: Choices) -> Markup:
    parameters = tool.get("parameters", {})
    has_list = "recommended_product_ids" in parameters.get("properties", {})
    buttons = [el("button", "Submit final answer", type="submit", class_="primary", name="final", value="true")]
    if has_list:
        buttons.append(el("button", "Propose first", type="submit", name="final", value="false"))
    return el(
        "form",
        el("h3", "Answer"),
        el("p", tool.get("description", ""), class_="dim"),
        _fields("answer", parameters, choices),
        el("p", together(buttons), class_="buttons"),
        data_kind="answer",
        data_form=SUBMIT,
        aria_label="Answer",
    )


def _raw_form() -> Markup:
    return el(
        "details",
        el("summary", "Raw output, as a model writes it"),
        el(
            "form",
            el("label", "Text", for_="raw"),
            el("textarea", id="raw", name="text", rows="3", required=True),
            el("small", "Read by the rules for models: what breaks the format ends the episode with reward -1."),
            el("p", el("button", "Send raw", type="submit"), class_="buttons"),
            data_kind="raw",
        ),
    )


def _fields(of: str, parameters: Mapping[str, Any], choices: Choices) -> Markup:
    properties = parameters.get("properties", {})
    required = parameters.get("required", ())
    # What has a default matters least.
    order = sorted(properties, key=lambda name: (name not in required, "default" in properties[name]))
    made = [control(name, properties[name], of=of, is_required=name in required, choices=choices) for name in order]
    at_hand = max(_AT_HAND, len(required))
    rest = made[at_hand:]
    more = el("details", el("summary", f"More fields ({len(rest)})"), el("div", together(rest), class_="fields"))
    return together([el("div", together(made[:at_hand]), class_="fields"), more if rest else None])


def _options(values: Sequence[str]) -> list[Markup]:
    return [el("option", value=value) for value in values]


def _type(schema: Mapping[str, Any]) -> str:
    kind = schema.get("type", "string")
    return "either" if isinstance(kind, list) else str(kind)
