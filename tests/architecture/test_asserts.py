"""Every test asserts something, whatever the world holds: no test's asserts all stand in loops that may never run.

What cannot run zero times, by a simple rule: a loop over a display or a string with something in it, over a ``range``
of literals that is not empty, over ``enumerate``, ``zip``, ``product`` and their like of such, over the members of an
enumeration, or over a name that is bound to nothing but such: in the test, in its module, or in the module of ours
that it is imported from. What stands under an ``if`` inside a loop may never be reached, whatever the loop runs over.
``all(...)``, ``not any(...)`` and ``[...] == []`` are loops as well: they hold of nothing.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MODULES = sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "tests").rglob("*.py"))
PACKAGE = "ecom_rlve."
ASSERTING = ("assert_", "check_")
"""How functions of the tests begin that assert for others. They obey the same rule."""
RAISING = {"raises", "warns", "fail"}
OF_ALL = {"enumerate", "zip", "product", "reversed", "sorted", "list", "tuple", "set", "frozenset", "dict", "iter"}
"""Calls that give something where everything they are given holds something."""
VIEWS = {"items", "keys", "values"}
ENUMERATIONS = {"Enum", "StrEnum", "IntEnum"}

Function = ast.FunctionDef | ast.AsyncFunctionDef
Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
Bindings = dict[str, list[ast.expr | None]]
"""What each name is bound to; None for what cannot be read off the text, such as the variable of a loop."""


class Module:
    """What the names of a module are bound to, and which expressions in it are never empty."""

    def __init__(self, source: str) -> None:
        self.tree = ast.parse(source)
        self._bound = bindings(node for node in self.tree.body if not isinstance(node, Function | ast.ClassDef))
        self._enumerations = {
            node.name
            for node in self.tree.body
            if isinstance(node, ast.ClassDef)
            and any(isinstance(base, ast.Name) and base.id in ENUMERATIONS for base in node.bases)
            and any(isinstance(inner, ast.Assign) for inner in node.body)
        }
        self._imported = {
            name.asname or name.name: (node.module or "", name.name)
            for node in ast.walk(self.tree)
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(PACKAGE)
            for name in node.names
        }

    def holds(self, node: ast.expr, local: Bindings) -> bool:
        """Return whether the value of an expression always holds something."""
        match node:
            case ast.Constant(value=str() | bytes() as text):
                return bool(text)
            case ast.Tuple(elts=elements) | ast.List(elts=elements) | ast.Set(elts=elements):
                return any(not isinstance(e, ast.Starred) or self.holds(e.value, local) for e in elements)
            case ast.Dict(keys=keys, values=values):
                return any(key or self.holds(value, local) for key, value in zip(keys, values, strict=True))
            case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
                return all(not loop.ifs and self.holds(loop.iter, local) for loop in node.generators)
            case ast.BinOp(left=left, op=ast.Add() | ast.BitOr(), right=right):
                return self.holds(left, local) or self.holds(right, local)
            case ast.Call():
                return self._call_holds(node, local)
            case ast.Name(id=name):
                return self._name_holds(name, local)
        return False

    def says_nothing(self, test: ast.expr, local: Bindings) -> bool:
        """Return whether what is asserted holds of nothing, where there may be nothing."""
        match test:
            case ast.BoolOp(op=ast.And(), values=parts):
                return all(self.says_nothing(part, local) for part in parts)
            case (
                ast.Call(func=ast.Name(id="all"), args=[over])
                | ast.UnaryOp(op=ast.Not(), operand=ast.Call(func=ast.Name(id="any"), args=[over]))
            ):
                return not self.holds(over, local)
            case (
                ast.UnaryOp(op=ast.Not(), operand=over)
                | ast.Compare(left=over, ops=[ast.Eq()], comparators=[ast.List(elts=[]) | ast.Dict(keys=[])])
            ):
                return isinstance(over, Comprehension)
        return False

    def _call_holds(self, call: ast.Call, local: Bindings) -> bool:
        match call.func:
            case ast.Attribute(value=inner, attr=name) if name in VIEWS and not call.args:
                return self.holds(inner, local)
            case ast.Name(id="range"):
                numbers = [self._number(argument, local) for argument in call.args]
                return None not in numbers and len(range(*(number or 0 for number in numbers))) > 0
            case ast.Name(id=name) | ast.Attribute(attr=name) if name in OF_ALL:
                return bool(call.args) and all(self.holds(argument, local) for argument in call.args)
        return False

    def _name_holds(self, name: str, local: Bindings) -> bool:
        values = local.get(name) or self._bound.get(name)
        if values:
            others = {key: value for key, value in local.items() if key != name}
            return all(value is not None and self.holds(value, others) for value in values)
        home, theirs = self._home(name)
        return name in self._enumerations or (home is not None and home._name_holds(theirs, {}))

    def _number(self, node: ast.expr, local: Bindings) -> int | None:
        match node:
            case ast.Constant(value=int() as number):
                return number
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() as number)):
                return -number
            case ast.BinOp(left=left, op=ast.Add(), right=right):
                one, other = self._number(left, local), self._number(right, local)
                return None if one is None or other is None else one + other
            case ast.Name(id=name):
                match local.get(name) or self._bound.get(name):
                    case [ast.expr() as value]:
                        return self._number(value, {})
                    case None:
                        home, theirs = self._home(name)
                        return home._number(ast.Name(id=theirs), {}) if home else None
        return None

    def _home(self, name: str) -> tuple[Module | None, str]:
        """Return the module of ours that an imported name comes from, and its name there."""
        dotted, theirs = self._imported.get(name, ("", name))
        return (module_of(dotted) if dotted else None), theirs


@cache
def module_of(dotted: str) -> Module | None:
    """Read a module of the package; one without a file of its own is a folder's."""
    path = ROOT / dotted.removeprefix(PACKAGE).replace(".", "/")
    found = [file for file in (path.with_suffix(".py"), path / "__init__.py") if file.is_file()]
    return Module(found[0].read_text()) if found else None


def bindings(body: Iterator[ast.stmt]) -> Bindings:
    """Return what these statements, and all inside them, bind each name to."""
    bound: Bindings = {}
    for node in (inner for statement in body for inner in ast.walk(statement)):
        match node:
            case ast.Assign(targets=[ast.Name() as target], value=value):
                bound.setdefault(target.id, []).append(value)
                target.ctx = ast.Load()
            case ast.AnnAssign(target=ast.Name() as target, value=ast.expr() as value):
                bound.setdefault(target.id, []).append(value)
                target.ctx = ast.Load()
            case ast.Name(id=name, ctx=ast.Store()):
                bound.setdefault(name, []).append(None)
    return bound


def asserts(node: ast.AST) -> bool:
    """Return whether a node is an assert, or a call that asserts."""
    match node:
        case ast.Assert():
            return True
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)):
            return name in RAISING or name.startswith(ASSERTING)
    return False


def reached(module: Module, function: Function) -> list[bool]:
    """Return for each assert of a function whether it says something, however empty the world is."""
    local = bindings(iter(function.body))
    for argument in (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs):
        local.setdefault(argument.arg, []).append(None)

    def walk(node: ast.AST, looping: bool, surely: bool) -> Iterator[bool]:
        if asserts(node):
            yield surely and not (isinstance(node, ast.Assert) and module.says_nothing(node.test, local))
        match node:
            case ast.For(iter=over) | ast.AsyncFor(iter=over):
                looping, surely = True, surely and module.holds(over, local)
            case ast.While(test=test):
                looping, surely = True, surely and isinstance(test, ast.Constant)
            case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
                looping, surely = True, surely and module.holds(node, local)
            case ast.If() if looping:
                surely = False
        for child in ast.iter_child_nodes(node):
            yield from walk(child, looping, surely)

    return [sure for statement in function.body for sure in walk(statement, False, True)]


def idle(source: str) -> list[str]:
    """Return the functions of a test module that assert, but nothing for certain."""
    module = Module(source)
    functions = [node for node in ast.walk(module.tree) if isinstance(node, Function)]
    judged = {f.name: reached(module, f) for f in functions if f.name.startswith(("test_", *ASSERTING))}
    return [name for name, sure in judged.items() if sure and not any(sure)]


@pytest.mark.parametrize("path", MODULES)
def test_no_test_asserts_only_what_may_never_be_reached(path: str) -> None:
    assert idle((ROOT / path).read_text()) == []


@pytest.mark.parametrize(
    "body",
    [
        "for x in rows(): assert x",
        "for x in rows:\n  for y in (1, 2): assert y",
        "for x in (1, 2):\n  if x > 2: assert x",
        "while rows: assert rows.pop()",
        "xs = [x for x in (1, 2) if x > 2]\n for x in xs: assert x",
        "for n in range(0): assert n",
        "for x in NOTHING: assert x",
        "for x in rows:\n  with pytest.raises(ValueError): x()",
        "for x in rows: check_it(x)",
        "assert all(x for x in rows)",
        "assert not any(rows)",
        "assert [x for x in rows if x] == []",
        "assert not {x: 1 for x in rows} and all(rows)",
        "[check_it(x) for x in rows]",
    ],
)
def test_what_says_nothing_of_nothing_is_found(body: str) -> None:
    assert idle(f"NOTHING = ()\ndef test_it(rows):\n {body}") == ["test_it"]


@pytest.mark.parametrize(
    "body",
    [
        "assert rows",
        "assert rows\n for x in rows: assert x",
        "for x in (1, 2): assert x",
        "for x in [*rows, 1]: assert x",
        "for n in range(2, 2 + MANY): assert n",
        "for n, x in enumerate(sorted({'a': 1}.items())): assert x",
        "for x in product((1, 2), LETTERS): assert x",
        "for x in zip('ab', [n for n in range(2)]): assert x",
        "for x in Colour: assert x",
        "for x in SCAFFOLDING: assert x",
        "while True:\n  assert next(rows)",
        "with pytest.raises(ValueError): rows()",
        "check_it(rows)",
        "if rows: assert rows",
        "assert all(x for x in LETTERS)",
        "def inner():\n  assert rows\n inner()",
        "rows.close()",
    ],
)
def test_what_says_something_is_left_in_peace(body: str) -> None:
    before = (
        "from ecom_rlve.catalog.search.stages import SCAFFOLDING\nMANY = 5\nLETTERS = 'ab' + 'c'\n"
        "class Colour(StrEnum):\n RED = 'red'\n"
    )
    assert idle(f"{before}def test_it(rows):\n {body}") == []
