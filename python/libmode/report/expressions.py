"""Expressions over the columns of a file, in the language of uproot: those of Python, with functions of NumPy.

The functions are uproot's own list. Nothing but what stands here can be said in an expression, so that one that
comes from elsewhere cannot run a program.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from uproot.language.python import PythonLanguage

from .problem import Problem, known

FUNCTIONS: dict[str, Callable[..., Any]] = PythonLanguage.default_functions
GETTER = "get"  # get("a name") is the column of any name


def _power(base: Any, exponent: Any) -> Any:
    """Of two constants in floating point: 9**9**9 would take forever in integers."""
    constants = isinstance(base, (int, float)) and isinstance(exponent, (int, float))
    return float(base) ** exponent if constants else base**exponent


BINARY: dict[type[ast.AST], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: _power,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.BitXor: operator.xor,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}
UNARY: dict[type[ast.AST], Callable[[Any], Any]] = {
    ast.UAdd: operator.pos,
    ast.USub: operator.neg,
    ast.Invert: operator.invert,
}


class Expression:
    """An expression of one option over the columns of one file.

    option : what the user calls it, ``--mass`` say, for errors
    text : the expression; the name of a column is one too, whatever it looks like
    columns : the names that the file has
    where : what errors call the file

    Raises
    ------
    Problem
        If it is no expression, or names a column that is not there.
    """

    def __init__(self, option: str, text: str, columns: Sequence[str], where: str) -> None:
        self._named = f"{option} {text!r}"
        self._columns, self._where = set(columns), where
        self._order = columns
        if text in self._columns:
            self._tree: ast.expr = ast.Call(ast.Name(GETTER), [ast.Constant(text)], [])
        else:
            try:
                self._tree = ast.parse(text.strip(), mode="eval").body
            except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
                reason = error.msg if isinstance(error, SyntaxError) else str(error)
                raise Problem(f"{self._named} is no expression: {reason}.") from None
        #: the columns that it needs, in the order in which they stand there
        self.needs: list[str] = list(dict.fromkeys(self._walk(self._tree)))

    def of(self, columns: Mapping[str, NDArray[Any]], count: int) -> NDArray[Any]:
        """The values for these columns, each (count,): an array (count,) of numbers or booleans.

        Overflow and division by zero give infinity and NaN, as in NumPy, without a warning.
        """
        try:
            with np.errstate(all="ignore"):
                value = np.asarray(self._value(self._tree, columns))
        except (TypeError, ValueError, ArithmeticError) as error:
            raise Problem(f"{self._named} cannot be computed from {self._where}: {error}.") from None
        if value.dtype.kind not in "biuf" or value.shape not in ((), (count,)):
            raise Problem(f"{self._named} does not give a number for each entry of {self._where}.")
        return np.full(count, value) if value.ndim == 0 else value

    def _walk(self, node: ast.expr) -> Iterator[str]:
        """The columns of a part, which is checked."""
        match node:
            case ast.Constant(value=bool() | int() | float()):
                pass
            case ast.Name() | ast.Attribute():
                yield self._known(self._dotted(node))
            case ast.Call(func=ast.Name(id=name), args=[ast.Constant(value=str() as column)], keywords=[]) if (
                name == GETTER
            ):
                yield self._known(column)
            case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]):
                self._check_call(name, len(arguments))
                for argument in arguments:
                    yield from self._walk(argument)
            case ast.UnaryOp(op=op, operand=operand) if type(op) in UNARY:
                yield from self._walk(operand)
            case ast.BinOp(left=left, op=op, right=right) if type(op) in BINARY:
                yield from self._walk(left)
                yield from self._walk(right)
            case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in BINARY:
                yield from self._walk(left)
                yield from self._walk(right)
            case ast.Compare(ops=[_, _, *_]):
                raise Problem(f"{self._named} compares three values at once: write (a < x) & (x < b).")
            case ast.BoolOp() | ast.UnaryOp(op=ast.Not()):
                raise Problem(f"{self._named} has and, or or not: write &, | or ~, with both sides in brackets.")
            case _:
                raise Problem(
                    f"{self._named} has {ast.unparse(node)!r}: expected names of columns, numbers, + - * / // % **, "
                    "comparisons, & | ^ ~ and functions of NumPy."
                )

    def _value(self, node: ast.expr, columns: Mapping[str, NDArray[Any]]) -> Any:
        match node:
            case ast.Constant(value=constant):
                return constant
            case ast.Name() | ast.Attribute():
                return columns[self._dotted(node)]
            case ast.Call(func=ast.Name(id=name), args=[ast.Constant(value=str() as column)]) if name == GETTER:
                return columns[column]
            case ast.Call(func=ast.Name(id=name), args=arguments):
                return FUNCTIONS[name](*(self._value(argument, columns) for argument in arguments))
            case ast.UnaryOp(op=op, operand=operand):
                return UNARY[type(op)](self._value(operand, columns))
            case ast.BinOp(left=left, op=op, right=right) | ast.Compare(left=left, ops=[op], comparators=[right]):
                return BINARY[type(op)](self._value(left, columns), self._value(right, columns))
        raise AssertionError(f"{ast.dump(node)} was checked")

    def _dotted(self, node: ast.expr) -> str:
        """``a.b.c`` of attributes of a name: a column may be called so."""
        match node:
            case ast.Name(id=name):
                return name
            case ast.Attribute(value=value, attr=name):
                return f"{self._dotted(value)}.{name}"
        raise Problem(f"{self._named} has {ast.unparse(node)!r} before a point: expected the name of a column.")

    def _known(self, column: str) -> str:
        if column in self._columns:
            return column
        if column in FUNCTIONS:
            raise Problem(f"{self._named}: {column} is a function, and wants arguments in brackets.")
        raise Problem(f"{self._named}: {self._where} has no column {column!r}; it has {known(self._order, column)}.")

    def _check_call(self, name: str, count: int) -> None:
        if name not in FUNCTIONS:
            raise Problem(f"{self._named}: there is no function {name!r}; there are {known(FUNCTIONS, name)}.")
        wanted = 3 if name == "where" else getattr(FUNCTIONS[name], "nin", 1)
        if count != wanted:
            raise Problem(f"{self._named}: {name} takes {wanted} argument{'s' * (wanted > 1)}, and has {count}.")
