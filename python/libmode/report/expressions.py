"""Expressions over the columns of a file: operators of Python and ROOT, and the functions of NumPy that uproot has."""

from __future__ import annotations

import ast
import copy
import re
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from uproot.language.python import PythonLanguage

from .formats import Columns, Table
from .problem import Problem, known

FUNCTIONS: dict[str, Callable[..., Any]] = PythonLanguage.default_functions
# All parts that an expression may have, so that a file of options from elsewhere cannot run a program.
ALLOWED = (
    *(ast.Expression, ast.Name, ast.Constant, ast.Call, ast.BinOp, ast.UnaryOp, ast.Compare, ast.Load, ast.operator),
    *(ast.UAdd, ast.USub, ast.Invert, ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.Eq, ast.NotEq),
)


class Expression:
    """The expression of an option, for a file with these columns. The name of a column is an expression too."""

    def __init__(self, option: str, text: str, table: Table, file: str) -> None:
        self._named, self._file = f"{option} {text!r}", file
        try:
            tree = (
                ast.parse(f"get({text!r})", mode="eval")
                if text in table.columns
                else _parsed(" ".join(text.split("\n")).strip(), table, self._named)
            )
            in_double = ast.fix_missing_locations(_InDouble().visit(copy.deepcopy(tree)))
            self._code = compile(in_double, "<expression>", "eval")
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            raise Problem(f"{self._named} is not an expression: {getattr(error, 'msg', error)}.") from None
        #: the columns that it needs
        self.needs: list[str] = []
        for node in ast.walk(tree):
            match node:
                case ast.Call(func=ast.Name("get"), args=[ast.Constant(str(name))], keywords=[]):
                    self._need(name, table)
                case ast.Call(func=ast.Name(name), args=args, keywords=[]) if name in FUNCTIONS:
                    wanted = getattr(FUNCTIONS[name], "nin", len(args))
                    if len(args) != wanted:
                        raise Problem(f"{self._named}: {name} has {len(args)} arguments: expected {wanted}.")
                case ast.Call(func=ast.Name(name), keywords=[]):
                    raise Problem(f"{self._named}: no function {name!r}; there are {known(FUNCTIONS, name)}.")
                case ast.Name(name) if name not in FUNCTIONS and name != "get":
                    self._need(name, table)
                case ast.BinOp(left, ast.BitXor(), right) if not (_is_mask(left) and _is_mask(right)):
                    raise Problem(f"{self._named} has '^' between numbers: expected ** for a power, as in mass**2.")
                case ast.Call() | ast.Compare(ops=[_, _, *_]):
                    self._refuse(node)
                case _ if not isinstance(node, ALLOWED):
                    self._refuse(node)

    def _need(self, column: str, table: Table) -> None:
        if column not in table.columns:
            there = "; ".join([known(table.columns, column), *table.unread])
            raise Problem(f"{self._named}: {self._file} has no column {column!r}; it has {there}.")
        self.needs.append(column)

    def _refuse(self, node: ast.AST) -> None:
        raise Problem(
            f"{self._named} has {ast.unparse(node) or type(node).__name__!r}: expected columns, numbers, + - * / // % "
            "**, comparisons of two values, && || !, & | ^ ~ with both sides in brackets, functions of NumPy, and "
            "get('a name')."
        )

    def finite(self, columns: Columns, place: NDArray[np.int_]) -> NDArray[np.float64]:
        """The values of events at these places in the file. Raises Problem for one that is not finite."""
        values = self._values(columns, place)
        self._check(np.isfinite(values), values, place, "a finite number; leave such events out with --cut")
        return values.astype(float)

    def truth(self, columns: Columns, place: NDArray[np.int_], expected: str) -> NDArray[np.bool_]:
        """Booleans of events at these places in the file. Raises Problem for a value that is neither 0 nor 1."""
        values = self._values(columns, place)
        self._check((values == 0) | (values == 1), values, place, expected)
        return values.astype(bool)

    def _values(self, columns: Columns, place: NDArray[np.int_]) -> NDArray[Any]:
        columns = {name: _wide(columns[name]) for name in self.needs}
        names = {"__builtins__": {}, **FUNCTIONS, "get": columns.__getitem__, **columns, _DOUBLE: _double}
        try:
            with np.errstate(all="ignore"):
                value = np.asarray(eval(self._code, names))
        except (TypeError, ValueError, ArithmeticError) as error:
            raise Problem(f"{self._named} cannot be computed from {self._file}: {error}.") from None
        if value.dtype.kind not in "biuf" or value.shape not in ((), place.shape):
            raise Problem(f"{self._named} does not give a number for each entry of {self._file}.")
        return np.broadcast_to(value, place.shape)

    def _check(self, good: NDArray[np.bool_], values: NDArray[Any], place: NDArray[np.int_], expected: str) -> None:
        if not good.all():
            at = int(np.argmin(good))
            raise Problem(f"{self._named} is {values[at]:g} at entry {place[at]} of {self._file}: expected {expected}.")


# The name of a function that no expression can call, since a name has no blanks.
_DOUBLE = "in double"


def _double(value: Any) -> Any:
    """Integers and booleans of NumPy as float64, and other values as they are."""
    of_numpy = isinstance(value, (np.ndarray, np.generic))
    return value.astype(np.float64) if of_numpy and value.dtype.kind in "biu" else value


def _wide(values: NDArray[Any]) -> NDArray[Any]:
    """A column, with integers of up to 32 bits as int64: ``abs(-128)`` of int8 is -128, and ``sqrt`` is a float16."""
    return values.astype(np.int64) if values.dtype.kind in "iu" and values.dtype.itemsize < 8 else values


class _InDouble(ast.NodeTransformer):
    """Makes arithmetic use float64, as ROOT does: integers of NumPy wrap around, and ``True + True`` is True."""

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        self.generic_visit(node)
        if isinstance(node.op, (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.Pow)):  # // and % of integers are exact
            node.left, node.right = _in_double(node.left), _in_double(node.right)
        return node

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        self.generic_visit(node)
        if isinstance(node.op, (ast.USub, ast.UAdd)):
            node.operand = _in_double(node.operand)
        return node


def _in_double(value: ast.expr) -> ast.expr:
    return ast.Call(ast.Name(_DOUBLE, ast.Load()), [value], [])


def _is_mask(node: ast.expr) -> bool:
    """Whether this is a comparison, or several that & | ^ ~ join."""
    match node:
        case ast.UnaryOp(ast.Invert(), operand):
            return _is_mask(operand)
        case ast.BinOp(left, ast.BitAnd() | ast.BitOr() | ast.BitXor(), right):
            return _is_mask(left) and _is_mask(right)
    return isinstance(node, ast.Compare)


def _parsed(text: str, table: Table, named: str) -> ast.Expression:
    """The tree of an expression; ``&&``, ``||`` and ``!``, or ``and``, ``or`` and ``not``, act on each entry."""
    # ~ binds as strongly as !, and nobody writes ~+. Names in quotes stay as they are.
    python = {"&&": " and ", "||": " or ", "!": "~+"}
    written = re.sub(r"""'[^']*'|"[^"]*"|&&|\|\||!(?!=)""", lambda part: python.get(part[0], part[0]), text)
    tree = ast.parse(written, mode="eval")
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare):
            _check_brackets(node, named)
    return ast.fix_missing_locations(_Translated(table).visit(tree))  # type: ignore[no-any-return]


def _check_brackets(node: ast.Compare, named: str) -> None:
    """Raises Problem for ``mass > 60 & tight``, which is ``mass > (60 & tight)`` in Python and for uproot."""
    # The places of a value leave out its brackets. The places of the comparison around it include them.
    last = node.comparators[-1]
    ends = [(node.left, node.col_offset == node.left.col_offset), (last, node.end_col_offset == last.end_col_offset)]
    for side, is_bare in ends:
        joins = isinstance(side, ast.BinOp) and (isinstance(side.op, (ast.BitAnd, ast.BitOr)) or _is_mask(side))
        if is_bare and joins:
            raise Problem(
                f"{named} compares {ast.unparse(side)!r}, since & | ^ act before comparisons: expected brackets around "
                "each comparison, as in (mass > 60) & (mass < 90), or && and ||."
            )


class _Translated(ast.NodeTransformer):
    """Replaces logical operators by comparisons with 0, ``np.log`` by ``log``, and ``jet.pt`` by the column's name."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.expr:
        first, *others = (_compared(self.visit(value), ast.NotEq()) for value in node.values)
        for other in others:
            first = ast.BinOp(first, ast.BitAnd() if isinstance(node.op, ast.And) else ast.BitOr(), other)
        return first

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        match node:
            case ast.UnaryOp(ast.Not(), value) | ast.UnaryOp(ast.Invert(), ast.UnaryOp(ast.UAdd(), value)):
                return _compared(self.visit(value), ast.Eq())
        return ast.UnaryOp(node.op, self.visit(node.operand))

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        name = ast.unparse(node)
        if name in self._table.columns:
            return ast.Call(ast.Name("get", ast.Load()), [ast.Constant(name)], [])
        prefix, _, function = name.partition(".")
        return ast.Name(function, ast.Load()) if prefix in ("np", "numpy") and function in FUNCTIONS else node


def _compared(value: ast.expr, how: ast.cmpop) -> ast.expr:
    return ast.Compare(value, [how], [ast.Constant(0)])
