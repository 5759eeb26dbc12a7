"""Single faults of a module: one comparison, boundary, connective, constant, sum, statement or result that is wrong."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

Change = tuple[ast.AST, ast.AST]
"""A node of a module and what stands in its place."""

COMPARISONS: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}
ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.FloorDiv,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.FloorDiv,
    ast.Pow: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
}
Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Fault:
    """One wrong place: the line it stands on, what was there and is there instead, and how to write the module so."""

    module: str
    number: int
    line: str
    change: str
    tree: ast.Module
    old: ast.AST
    new: ast.AST

    @property
    def key(self) -> tuple[str, str, str]:
        """Return what names the fault wherever its line moves to."""
        return self.module, self.line, self.change

    def source(self) -> str:
        """Return the text of the module with this fault; the tree is as before afterwards."""
        _replace(self.tree, self.old, self.new)
        text = ast.unparse(ast.fix_missing_locations(self.tree))
        _replace(self.tree, self.new, self.old)
        return text


def faults_of(module: str, source: str) -> list[Fault]:
    """Return every fault that is put into a module, in the order of its lines; the same text gives the same faults."""
    tree, lines = ast.parse(source), source.splitlines()
    found = []
    for old, new in _changes(tree):
        number = getattr(old, "lineno", 1)
        change = f"{_said(old)} -> {_said(new)}"
        found.append(Fault(module, number, lines[number - 1].strip(), change, tree, old, new))
    return sorted(found, key=lambda fault: (fault.number, fault.change))


def _said(node: ast.AST) -> str:
    text = " ".join(ast.unparse(node).split())
    return text if len(text) <= 80 else f"{text[:77]}..."


def _replace(tree: ast.Module, old: ast.AST, new: ast.AST) -> None:
    class Replace(ast.NodeTransformer):
        def visit(self, node: ast.AST) -> ast.AST:
            if node is old:
                return new
            return node if node is new else self.generic_visit(node)

    Replace().visit(tree)


def _changes(tree: ast.Module) -> Iterator[Change]:
    for node, function in _code(tree, None):
        for kind in (_comparisons, _connectives, _constants, _arithmetic, _statements):
            yield from kind(node)
        if isinstance(node, ast.Return) and node.value is not None and function is not None:
            yield from _results(node, node.value, function)


def _code(node: ast.AST, function: Function | None) -> Iterator[tuple[ast.AST, Function | None]]:
    """Yield what does something, with the function around it: no annotation, documentation, message or type's name."""
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list", "bases", "type_comment"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if not isinstance(child, ast.AST) or _is_silent(child):
                continue
            yield child, function
            yield from _code(child, child if isinstance(child, Function) else function)


def _is_silent(node: ast.AST) -> bool:
    match node:
        case ast.Expr(value=ast.Constant()) | ast.JoinedStr() | ast.Import() | ast.ImportFrom():
            return True
        case ast.If(test=ast.Name(id="TYPE_CHECKING")):
            return True
        case ast.Assign(value=ast.Call(func=ast.Name(id="TypeVar"))):
            return True
    return False


def _comparisons(node: ast.AST) -> Iterator[Change]:
    if isinstance(node, ast.Compare):
        for at, operator in enumerate(node.ops):
            for other in COMPARISONS[type(operator)]:
                yield node, ast.Compare(node.left, [*node.ops[:at], other(), *node.ops[at + 1 :]], node.comparators)


def _connectives(node: ast.AST) -> Iterator[Change]:
    match node:
        case ast.BoolOp(op=ast.And(), values=values):
            yield node, ast.BoolOp(ast.Or(), values)
        case ast.BoolOp(op=ast.Or(), values=values):
            yield node, ast.BoolOp(ast.And(), values)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield node, operand
        case ast.If(test=test) | ast.IfExp(test=test) | ast.While(test=test):
            if isinstance(test, ast.Name | ast.Call | ast.Attribute | ast.NamedExpr):
                yield test, ast.UnaryOp(ast.Not(), test)


def _constants(node: ast.AST) -> Iterator[Change]:
    match node:
        case ast.Constant(value=bool() as value):
            yield node, ast.Constant(not value)
        case ast.Constant(value=int() | float() as value):
            yield node, ast.Constant(value + 1)
            yield node, ast.Constant(value - 1)


def _arithmetic(node: ast.AST) -> Iterator[Change]:
    match node:
        case ast.BinOp(left=left, op=operator, right=right) if type(operator) in ARITHMETIC:
            yield node, ast.BinOp(left, ARITHMETIC[type(operator)](), right)
        case ast.AugAssign(target=target, op=operator, value=value) if type(operator) in ARITHMETIC:
            yield node, ast.AugAssign(target, ARITHMETIC[type(operator)](), value)
        case ast.Call(func=ast.Name(id="min" | "max" as name) as called):
            yield called, ast.Name({"min": "max", "max": "min"}[name], ast.Load())
        case ast.Call(func=ast.Name(id="any" | "all" as name) as called):
            yield called, ast.Name({"any": "all", "all": "any"}[name], ast.Load())


def _statements(node: ast.AST) -> Iterator[Change]:
    match node:
        case ast.Expr(value=ast.Call() | ast.Await()) | ast.AugAssign() | ast.Continue() | ast.Break() | ast.Raise():
            yield node, ast.Pass()
        case ast.Assign(targets=[ast.Attribute() | ast.Subscript()]) | ast.Delete():
            yield node, ast.Pass()


def _results(node: ast.Return, value: ast.expr, function: Function) -> Iterator[Change]:
    others: tuple[bool | None, ...] = (None,)
    if isinstance(function.returns, ast.Name) and function.returns.id == "bool":
        others = (True, False)
    for other in others:
        if not (isinstance(value, ast.Constant) and value.value is other):
            yield node, ast.Return(ast.Constant(other))
