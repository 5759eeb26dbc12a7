"""Write the reference pages from the code: ``tools.md``, ``errors.md``, ``settings.md``, ``frames.md``, ``board.md``.

``python pages/generate.py`` writes them, ``python pages/generate.py --check`` fails where one differs.
"""

from __future__ import annotations

import ast
import inspect
import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any, get_args, get_origin

from blocks import ROOT, table
from pydantic import AliasChoices, SecretStr
from pydantic.fields import FieldInfo
from starlette.exceptions import HTTPException

from ecom_rlve.client.answers import ERROR_CLASSES
from ecom_rlve.envs.language.frames import Frames, acts_in_bank, facts_in_bank, known_frames
from ecom_rlve.envs.registry import environments
from ecom_rlve.envs.tools.registry import TOOLS
from ecom_rlve.envs.tools.tool import Tool
from ecom_rlve.envs.world.world import World
from ecom_rlve.evaluation.judging.board import board_tables, read_board
from ecom_rlve.evaluation.judging.plan import Plan
from ecom_rlve.evaluation.judging.suite import SPLIT, SUITES, with_suite
from ecom_rlve.models import DomainCode, ErrorCode, FormatFault, Uncounted
from ecom_rlve.server.errors import TABLE, Row, translate
from ecom_rlve.server.settings import Settings

NOTE = "<!-- Written by `make docs` from the code; a test fails where the two differ. -->\n"
_ANY_PLAN = Plan(agent="any", envs=(), difficulties=(), episodes=1, trials=1, split=SPLIT)


def attribute_docs(owner: type) -> dict[str, str]:
    """Return the docstrings under the attributes of a class, by attribute name."""
    (definition,) = ast.parse(textwrap.dedent(inspect.getsource(owner))).body
    assert isinstance(definition, ast.ClassDef)
    docs = {}
    for node, after in zip(definition.body, definition.body[1:], strict=False):
        target = node.targets[0] if isinstance(node, ast.Assign) else getattr(node, "target", None)
        match after:
            case ast.Expr(ast.Constant(str() as text)) if isinstance(target, ast.Name):
                docs[target.id] = " ".join(inspect.cleandoc(text).replace("``", "`").split())
    return docs


def codes_raised(function: Callable[..., Any]) -> list[DomainCode]:
    """Return the domain codes that occur in a tool and in what it calls, in the order of the enum."""
    seen: set[CodeType] = set()
    names: set[str] = set()
    waiting = [function]
    while waiting:
        current = waiting.pop()
        if not isinstance(current, FunctionType) or current.__code__ in seen:
            continue
        seen.add(current.__code__)
        for name in _names(current.__code__):
            names.add(name)
            waiting += [found for found in (current.__globals__.get(name), getattr(World, name, None)) if found]
    return [code for code in DomainCode if code.name in names]


def _names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from _names(inner)


def tools_page() -> str:
    """Return ``tools.md``."""
    offered = {
        name: [each.about.id for each in environments().values() if name in each.about.tool_names] for name in TOOLS
    }
    parts = [
        NOTE,
        "# Tools\n",
        'A call is `{"name": …, "args": {…}}`. Dots in names read as underscores (`catalog.search`). An unknown tool, '
        "an unknown argument or a value outside its type or bounds is a format failure: it ends the episode with "
        "reward -1. A number may be written as a string. A domain error is a result: `error` says what was wrong, "
        "`code` is one of those listed here, and "
        "the episode goes on. *Reads* leave the store and the cart as they are; what a read shows counts as shown.\n",
    ]
    parts += [_tool(tool, offered[name]) for name, tool in TOOLS.items()]
    return "\n".join(parts)


def _tool(tool: Tool[Any], environments_of_it: list[str]) -> str:
    parameters = tool.schema["function"]["parameters"]
    required = parameters["required"]
    rows = [
        [f"`{name}`", _type(field), _bounds(field), _default(name, field, required), field.get("description", "")]
        for name, field in parameters["properties"].items()
    ]
    effect = "Writes." if tool.writes else "Reads."
    cost = " Costs no tool call and closes the turn." if tool.is_free else ""
    codes = ", ".join(f"`{code}`" for code in codes_raised(tool.run)) or "none"
    lines = [f"## `{tool.name}`\n", f"{tool.description} {effect}{cost} Offered in: {', '.join(environments_of_it)}.\n"]
    if rows:
        lines.append(table(("argument", "type", "bounds", "default", "meaning"), rows) + "\n")
    else:
        lines.append("No arguments.\n")
    if tool.aliases:
        lines.append("Also accepted: " + ", ".join(f"`{given}` for `{meant}`" for given, meant in tool.aliases) + ".\n")
    return "\n".join([*lines, f"Domain errors: {codes}.\n"])


def _type(field: dict[str, Any]) -> str:
    return " or ".join(f"`{choice}`" for choice in field["enum"]) if "enum" in field else str(field["type"])


def _bounds(field: dict[str, Any]) -> str:
    if "minimum" in field or "maximum" in field:
        return f"{field.get('minimum', '')} to {field['maximum']}" if "maximum" in field else f"≥ {field['minimum']}"
    if "maxLength" in field:
        return f"{field.get('minLength', 0)} to {field['maxLength']} characters"
    return ""


def _default(name: str, field: dict[str, Any], required: list[str]) -> str:
    if name in required:
        return "*required*"
    return f"`{field['default']}`" if "default" in field else "absent"


def errors_page() -> str:
    """Return ``errors.md``."""
    error_docs, domain_docs = attribute_docs(ErrorCode), attribute_docs(DomainCode)
    by_domain = {code: [name for name, tool in TOOLS.items() if code in codes_raised(tool.run)] for code in DomainCode}
    errors = [
        [f"`{code}`", *_transport(code), f"`{ERROR_CLASSES[code].__name__}`", error_docs[code]] for code in ErrorCode
    ]
    domain = [
        [f"`{code}`", ", ".join(f"`{name}`" for name in by_domain[code]), domain_docs[code]] for code in DomainCode
    ]
    fault_docs = attribute_docs(FormatFault)
    uncounted_docs = attribute_docs(Uncounted)
    uncounted = [[f"`{code}`", uncounted_docs[code.name]] for code in Uncounted]
    faults = [[f"`{fault}`", fault_docs[fault.name]] for fault in FormatFault]
    parts = [
        NOTE,
        "# Errors\n",
        "## Error answers\n",
        "A request that cannot be carried out changes nothing and costs nothing. Over HTTP it is answered with the "
        'status and `{"error": {"code", "message", "errors"}}`; over a WebSocket with a frame '
        '`{"type": "error", "data": {"code", "token", "message", …}}`, whose `code` is one of OpenEnv\'s and whose '
        "`token` is the code of this table. A code without a status is only used as a frame's `code`; one without "
        "either is never sent.\n",
        table(("code", "HTTP status", "frame code", "`EcomEnv` raises", "meaning"), errors) + "\n",
        "## Domain errors\n",
        "A tool result with an `error` and one of these codes; the episode goes on.\n",
        table(("code", "tools", "meaning"), domain) + "\n",
        "## Format failures\n",
        "What a model writes that is no action ends the episode with reward -1. The `reason` in the result says what "
        "was wrong; `GET /metrics` counts these kinds of mistakes.\n",
        table(("kind", "meaning"), faults) + "\n",
        "## Uncounted episodes\n",
        "`why_uncounted` beside an answer, and in the answer to a [report](curriculum.md#drawing-and-reporting).\n",
        table(("code", "meaning"), uncounted) + "\n",
    ]
    return "\n".join(parts)


def _transport(code: ErrorCode) -> tuple[str, str]:
    """Return the HTTP statuses and the frame codes under which a code is sent."""
    framework = [translate(HTTPException(status)).row for status in (404, 405)]
    rows: list[Row] = [row for row in (*TABLE.values(), *framework) if row.code is code]
    statuses = sorted({str(row.status) for row in rows})
    frames = dict.fromkeys(f"`{row.frame}`" for row in rows)
    only_a_frame_code = any(row.frame is code for row in TABLE.values())
    return ", ".join(statuses) or "–", ", ".join(frames) or ("itself" if only_a_frame_code else "–")


def settings_page() -> str:
    """Return ``settings.md``."""
    docs = attribute_docs(Settings)
    rows = [
        [_variables(name, field), _setting_type(field), _setting_default(field), docs.get(name, "")]
        for name, field in Settings.model_fields.items()
    ]
    parts = [
        NOTE,
        "# Settings of a server\n",
        "Read from the process environment once, at start; an empty variable counts as absent. "
        "`ecom-rlve serve --help` lists those that are options too; an option wins over its variable.\n",
        table(("variable", "type", "default", "meaning"), rows) + "\n",
    ]
    return "\n".join(parts)


def _variables(name: str, field: FieldInfo) -> str:
    alias = field.validation_alias
    names = alias.choices if isinstance(alias, AliasChoices) else [f"ECOM_RLVE_{name.upper()}"]
    return ", ".join(f"`{each}`" for each in names)


_TYPE_NAMES = {str: "string", int: "integer", float: "number", bool: "boolean", Path: "path", SecretStr: "secret"}


def _setting_type(field: FieldInfo) -> str:
    if get_origin(field.annotation) is dict:
        return "JSON object"
    if get_origin(field.annotation) is tuple:
        return "JSON list"
    stated = [kind for kind in (get_args(field.annotation) or (field.annotation,)) if kind is not type(None)]
    # The choices of an optional Literal are one level deeper.
    kinds = [choice for kind in stated for choice in (get_args(kind) or (kind,))]
    if kinds[0] not in _TYPE_NAMES:
        return " or ".join(f"`{choice}`" for choice in kinds)
    signs = {"ge": "≥", "gt": ">", "le": "≤"}
    bounds = [
        f"{sign} {getattr(each, key)}" for key, sign in signs.items() for each in field.metadata if hasattr(each, key)
    ]
    return ", ".join([_TYPE_NAMES[kinds[0]], *bounds])


def _setting_default(field: FieldInfo) -> str:
    if field.default_factory is dict:
        return "`{}`"
    if field.default == ():
        return "`[]`"
    value = str(field.default)
    return "none" if field.default is None else f"`{value.lower() if isinstance(field.default, bool) else value}`"


def frames_page() -> str:
    """Return ``frames.md``."""
    environments()
    acts_in_bank()
    tables = [
        [f"`{name}`", each.about, _places(each), "yes" if each.is_negative else "no"]
        for name, each in sorted(known_frames().items())
    ]
    operators: dict[str, list[str]] = {}
    for kind, op in facts_in_bank():
        operators.setdefault(kind, []).append(f"`{op}`")
    parts = [
        NOTE,
        "# Tables of frames\n",
        "What a file of [further frames](bank.md) can add to.\n",
        "## Acts\n",
        table(("table", "what its frames do", "places of each frame", "may negate"), tables) + "\n",
        "## Facts\n",
        "Tables are named `facts.KIND.OPERATOR`.\n",
        table(("kind", "operators"), [[f"`{kind}`", ", ".join(ops)] for kind, ops in sorted(operators.items())]) + "\n",
    ]
    return "\n".join(parts)


def board_page() -> str:
    """Return ``board.md``."""
    suites = [
        [f"`{name}`", ", ".join(map(str, suite.difficulties)), str(suite.episodes), str(suite.trials), f"`{code}`"]
        for name, suite in SUITES.items()
        if (code := with_suite(_ANY_PLAN, name).suite_hash)
    ]
    parts = [
        NOTE,
        "# Board\n",
        "Agents over a frozen suite: the same episodes for everybody, on the default catalog, with customers whose",
        "words come from templates. [judging.md](judging.md#the-board) says how to submit. A *reference* is a built-in",
        "agent: it hears the customer's acts, knows the goal, or never does the job, and competes with nobody.\n",
        "## Suites\n",
        table(("suite", "difficulties", "episodes of each environment at each", "trials", "hash"), suites) + "\n",
        "## Results\n",
        board_tables(read_board(ROOT / "docs" / "board.json")) + "\n",
    ]
    return "\n".join(parts)


def _places(frames: Frames) -> str:
    each = [f"`{{{place}}}`" for place in frames.places]
    one_of = " or ".join(f"`{{{place}}}`" for place in frames.one_of)
    return ", ".join([*each, *filter(None, [one_of])]) or "none"


PAGES = {
    "tools.md": tools_page,
    "errors.md": errors_page,
    "settings.md": settings_page,
    "frames.md": frames_page,
    "board.md": board_page,
}


def main(arguments: list[str]) -> int:
    """Write the pages, or with ``--check`` name those that differ; return the exit status."""
    stale = []
    for name, page in PAGES.items():
        path, text = ROOT / "docs" / name, page()
        if path.exists() and path.read_text() == text:
            continue
        stale.append(name)
        if "--check" not in arguments:
            path.write_text(text)
            print(f"docs/{name} written")
    if "--check" not in arguments or not stale:
        return 0
    print(f"not as the code says: {', '.join(stale)}; run: make docs")
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
