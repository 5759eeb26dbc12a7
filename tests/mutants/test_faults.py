"""Faults of a small module: what is changed, one at a time, and what is left alone."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType

import pytest

HERE = Path(__file__).parent


@pytest.fixture(scope="module")
def faults() -> ModuleType:
    """The writer of faults, which is no part of any package."""
    spec = importlib.util.spec_from_file_location("mutants_faults", HERE / "faults.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("line", "changed"),
    [
        ("x = a < b", ["x = a <= b", "x = a >= b"]),
        ("x = a == b", ["x = a != b"]),
        ("x = a is not None", ["x = a is None"]),
        ("x = a in b", ["x = a not in b"]),
        ("x = a and b", ["x = a or b"]),
        ("x = not a", ["x = a"]),
        ("x = b if a else c", ["x = b if not a else c"]),
        ("x = 3", ["x = 4", "x = 2"]),
        ("x = True", ["x = False"]),
        ("x = a + b", ["x = a - b"]),
        ("x = a | b", ["x = a & b"]),
        ("x = min(a)", ["x = max(a)"]),
        ("x -= a", ["x += a", "pass"]),
        ("a.b(c)", ["pass"]),
        ("a.b = c", ["pass"]),
        ("a[b] = c", ["pass"]),
        ("raise a", ["pass"]),
    ],
)
def test_each_kind_of_line_has_its_faults(faults: ModuleType, line: str, changed: list[str]) -> None:
    found = [fault.source() for fault in faults.faults_of("m.py", line)]
    assert sorted(found) == sorted(changed)


def test_a_result_becomes_nothing_or_the_other_truth(faults: ModuleType) -> None:
    found = faults.faults_of(
        "m.py", "def f() -> bool:\n    return a\ndef g():\n    return a\ndef h() -> bool:\n    return True"
    )
    assert [(fault.number, fault.change) for fault in found] == [
        (2, "return a -> return False"),
        (2, "return a -> return True"),
        (4, "return a -> return None"),
        (6, "True -> False"),
        (6, "return True -> return False"),
    ]


@pytest.mark.parametrize(
    "line",
    [
        '"""Documentation of 1 thing."""',
        "import a",
        "x: Annotated[int, 3]",
        "T = TypeVar('T', bound=not_me(1))",
        "f'{a + 1}'",
    ],
)
def test_what_says_or_names_something_is_left_alone(faults: ModuleType, line: str) -> None:
    assert faults.faults_of("m.py", line) == []


def test_a_fault_is_known_wherever_its_line_moves_to(faults: ModuleType) -> None:
    one, other = (faults.faults_of("m.py", text)[0] for text in ("x = 1", "\n\n\nif a:\n    x = 1"))
    assert one.key == ("m.py", "x = 1", "1 -> 0")
    assert other.number == 4
    assert faults.faults_of("m.py", "\n\n\nx = 1")[0].key == one.key


def test_every_equivalent_fault_has_a_reason() -> None:
    entries = json.loads((HERE / "equivalent.json").read_text())
    assert [entry for entry in entries if entry.keys() != {"module", "line", "change", "reason"}] == []
    assert min(len(entry["reason"]) for entry in entries) > 20
    assert len({(entry["module"], entry["line"], entry["change"]) for entry in entries}) == len(entries)
