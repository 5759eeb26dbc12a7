"""What a person types, read into a value that fits a JSON schema.

A call that the server cannot read ends the episode with the lowest reward, which is right for a model but too harsh for
a typing error. So everything that a schema of the server says is checked here first.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches
from math import isfinite
from typing import Any, NoReturn

Schema = Mapping[str, Any]
"""The JSON schema of one argument, or of an object of them."""

PROSE_LENGTH = 100
"""A text argument that may be longer than this takes all remaining words; shorter ones are ids."""
YES_AND_NO = {"true": True, "yes": True, "false": False, "no": False}


class CommandError(ValueError):
    """What was typed cannot be read; the message says why. Nothing was sent."""


def read_value(name: str, text: str, schema: Schema) -> Any:
    """Return ``text`` as a value of the argument ``name``; raises CommandError where it does not fit."""
    value = typed(name, text, schema)
    check_value(name, value, schema)
    return value


def typed(name: str, text: str, schema: Schema) -> Any:
    """Return ``text`` in the type of its schema; raises CommandError where it cannot be."""
    kinds = kinds_of(schema)
    if "array" in kinds:
        return [typed(name, item.strip(), schema.get("items", {})) for item in text.split(",") if item.strip()]
    for kind in kinds:
        if kind == "string":
            continue
        try:
            return _READ[kind](text)
        except (ValueError, KeyError):
            if "string" not in kinds:
                raise CommandError(f"{name} must be {_kind_name(kind)}, not {text!r}") from None
    return text


def kinds_of(schema: Schema) -> Sequence[str]:
    """Return the JSON types that a value may have."""
    kind = schema.get("type", "string")
    return [kind] if isinstance(kind, str) else kind


def is_prose(schema: Schema) -> bool:
    """Tell whether an argument is text in words."""
    return schema.get("type") == "string" and "enum" not in schema and schema.get("maxLength", 1000) > PROSE_LENGTH


def choices_of(schema: Schema) -> list[str]:
    """Return all that may be typed for an argument, if that can be listed."""
    if "enum" in schema:
        return [str(each) for each in schema["enum"]]
    return ["yes", "no"] if "boolean" in kinds_of(schema) else []


def hint(schema: Schema) -> str:
    """Return type, bounds, choices and default of an argument in words.

    >>> hint({"type": "integer", "minimum": 1, "maximum": 10, "default": 5})
    'a whole number from 1 to 10; default 5'
    >>> hint({"type": "string", "enum": ["relevance", "price_asc"]})
    'relevance or price_asc'
    """
    said = " or ".join(choices_of(schema)) or " or ".join(_kind_name(kind) for kind in kinds_of(schema))
    low, high = schema.get("minimum"), schema.get("maximum")
    if low is not None and high is not None:
        said += f" from {low} to {high}"
    elif low is not None:
        said += f", at least {low}"
    return f"{said}; default {_shown(schema['default'])}" if "default" in schema else said


def read_object(text: str) -> dict[str, Any]:
    """Return a JSON object; raises CommandError for everything else."""
    try:
        value = json.loads(text)
        json.dumps(value, allow_nan=False)  # Python reads NaN and 1e999, JSON has neither
    except (ValueError, RecursionError) as error:
        raise CommandError(f"not JSON: {error}") from None
    if not isinstance(value, dict):
        raise CommandError("a JSON object {...} is needed")
    return value


def check_values(args: Mapping[str, Any], schema: Schema) -> None:
    """Raise CommandError where an argument is unknown or does not fit; one that is missing is no fault."""
    properties: Mapping[str, Schema] = schema.get("properties", {})
    for name, value in args.items():
        if name not in properties:
            no_such("argument", name, list(properties))
        check_value(name, value, properties[name])


def missing(args: Mapping[str, Any], schema: Schema) -> list[str]:
    """Return the required arguments that are not given, in the schema's order."""
    return [name for name in schema.get("required", []) if args.get(name, "") == ""]


def check_value(name: str, value: Any, schema: Schema) -> None:
    """Raise CommandError where a value does not fit its schema."""
    kinds = kinds_of(schema)
    if not any(_is_of(kind, value) for kind in kinds):
        raise CommandError(f"{name} must be {' or '.join(map(_kind_name, kinds))}")
    if "enum" in schema and value not in schema["enum"]:
        raise CommandError(f"{name} must be one of {', '.join(map(str, schema['enum']))}")
    if isinstance(value, (str, list)):
        _check_size(name, value, schema)
    elif not isinstance(value, bool) and not schema.get("minimum", value) <= value <= schema.get("maximum", value):
        bounds = f"from {schema.get('minimum', '…')} to {schema.get('maximum', '…')}"
        raise CommandError(f"{name} must be {bounds}")


def no_such(kind: str, given: str, known: Sequence[str]) -> NoReturn:
    """Raise the CommandError for a name that is not known, with the nearest one that is."""
    near = get_close_matches(given, known, n=1)
    raise CommandError(
        f"no {kind} {given}; " + (f"did you mean {near[0]}?" if near else f"there are {', '.join(known)}")
    )


def _check_size(name: str, value: str | list[Any], schema: Schema) -> None:
    if isinstance(value, str):
        least, most, what = schema.get("minLength", 0), schema.get("maxLength"), "characters"
    else:
        least, most, what = schema.get("minItems", 0), schema.get("maxItems"), "items"
        for item in value:
            check_value(f"each of {name}", item, schema.get("items", {}))
    if len(value) < least or (most is not None and len(value) > most):
        raise CommandError(f"{name} must have from {least} to {most if most is not None else '…'} {what}")


def _is_of(kind: str, value: Any) -> bool:
    if isinstance(value, bool):
        return kind == "boolean"
    return isinstance(value, _TYPES[kind]) if kind in _TYPES else True


def _finite(text: str) -> float:
    value = float(text)
    if not isfinite(value):
        raise ValueError("JSON has finite numbers only")
    return value


def _kind_name(kind: str) -> str:
    return _KIND_NAMES.get(kind, f"of type {kind}")


def _shown(value: Any) -> str:
    return ("yes" if value else "no") if isinstance(value, bool) else str(value)


_READ: Mapping[str, Callable[[str], Any]] = {
    "integer": int,
    "number": _finite,
    "boolean": lambda text: YES_AND_NO[text.lower()],
}
_TYPES: Mapping[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "array": (list,),
    "object": (dict,),
}
_KIND_NAMES = {
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "string": "text",
    "array": "a list, with commas between",
}
