"""What hypothesis gives the functions at the Python border: events in every kind of container, options of every kind.

Most arrays of a call are good, so that a call gets far enough to be computed; each may be spoilt in its values, its
type, its shape or its container.
"""

from __future__ import annotations

import array
import decimal
import fractions
import os
import re
import warnings
from typing import Any

import numpy as np
import pandas as pd
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from libmode.option_types import LossOptions

EXAMPLES = int(os.environ.get("LIBMODE_FUZZ", "0"))
#: For tests with examples of what is here; ``LIBMODE_FUZZ`` says how many, and other than by default they differ from run to run.
fuzzing = settings(
    max_examples=EXAMPLES or 30,
    derandomize=not EXAMPLES,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.function_scoped_fixture],
)

NAMES = ("score", "mass", "weight", "label", "category")
#: What a sentence must hold: the name of an argument, as a word.
NAMED = re.compile(rf"\b(scores?|y_pred|y_true|masses|weights|{'|'.join([*NAMES, *LossOptions.__annotations__])})\b")

#: The same of a curvature.
NAMED_OF_HESS = re.compile(NAMED.pattern + r"|\bsmoothing\b|\bhess\b")

_SPECIAL = [np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0, 0.5, 5e-324, 1e-40, 1e-300, 3.5e38, -1e308, 1.7e308, 2.0**53]
_TYPES = [*"efdg?bBhHiIlLqQ", ">f4", ">f8", ">i4", ">u2", ">f2"]
_NO_NUMBERS = [*"FDG", "U3", "S2", "O", "M8[s]", "m8[ns]", "V4", [("a", "f8"), ("b", "i4")]]


def _values(name: str, n: int, rng: np.random.Generator, how: str) -> np.ndarray:
    """n numbers, in float64: good ones, or what may be wrong with them."""
    good = {
        "score": rng.random(n),
        "mass": 50 + 200 * rng.random(n),
        "weight": rng.normal(1, 0.5, n),
        "label": rng.integers(0, 2, n).astype(float),
        "category": rng.integers(0, 3, n).astype(float),
    }[name]
    if how == "special":
        return rng.choice(_SPECIAL, n)
    if how == "some special":
        return np.where(rng.random(n) < 0.1, rng.choice(_SPECIAL, n), good)
    if how == "equal":
        return np.full(n, rng.choice([good[0] if n else 0.5, *_SPECIAL]))
    if how == "tied":
        return np.round(good * 4) / 4
    if how == "wide":
        return good * 10.0 ** rng.integers(-320, 305, n)
    return good


def _unaligned(a: np.ndarray) -> np.ndarray:
    moved = np.zeros(a.nbytes + 1, np.uint8)[1:].view(a.dtype)
    moved[:] = a
    return moved


def _read_only(a: np.ndarray) -> np.ndarray:
    a = a.copy()
    a.flags.writeable = False
    return a


#: An array in another shape or with other strides.
_SHAPES = {
    "every second": lambda a: np.repeat(a, 2)[::2],
    "reversed": lambda a: a[::-1].copy()[::-1],
    "column of many": lambda a: np.stack([a] * 3, axis=1)[:, 1],
    "broadcast": lambda a: np.broadcast_to(a[:1], (len(a),)),
    "read-only": _read_only,
    "unaligned": _unaligned,
    "(n, 1)": lambda a: a[:, None],
    "(1, n)": lambda a: a[None, :],
    "(n, 1, 1)": lambda a: a[:, None, None],
    "(0, n)": lambda a: np.zeros((0, len(a)), a.dtype),
    "(n, 0)": lambda a: np.zeros((len(a), 0), a.dtype),
    "()": lambda a: a[0],
    "2 columns": lambda a: np.asfortranarray(np.stack([a, a + 1], axis=1)),
    "4 columns": lambda a: np.asfortranarray(np.stack([a] * 4, axis=1)),
}

#: An array as something else that NumPy may make an array of, or not.
_CONTAINERS = {
    "list": lambda a: a.tolist(),
    "tuple": lambda a: tuple(a.tolist()),
    "objects": lambda a: a.astype(object),
    "ragged": lambda a: [a.tolist(), 1.0, [2.0, 3.0]],
    "masked": lambda a: np.ma.masked_array(a, mask=np.arange(len(a)) % 5 == 0),
    "nothing masked": np.ma.masked_array,
    "series": pd.Series,
    "series, other index": lambda a: pd.Series(a, index=np.roll(np.arange(len(a)), 1)),
    "nullable": lambda a: pd.Series(a.astype(float), dtype="Float64"),
    "categorical": lambda a: pd.Categorical(a.tolist()),
    "frame": lambda a: pd.DataFrame({"a": a}),
    "iterator": lambda a: iter(a.tolist()),
    "set": lambda a: set(a.tolist()),
    "dict": lambda a: dict.fromkeys(a.tolist(), 1.0),
    "bytes": lambda a: a.tobytes(),
    "memoryview": lambda a: memoryview(np.ascontiguousarray(a)),
    "array.array": lambda a: array.array("d", a.astype(float).tolist()),
    "decimals": lambda a: [decimal.Decimal(repr(float(x))) for x in a],
    "fractions": lambda a: [fractions.Fraction(k, 7) for k in range(len(a))],
    "huge integers": lambda a: [2**70 + k for k in range(len(a))],
    "huger integers": lambda a: [10**400] * len(a),
    "with None": lambda a: [*a.tolist(), None],
    "texts": lambda a: [repr(x) for x in a.tolist()],
    "text": lambda a: "0.5",
    "number": lambda a: 0.5,
    "None": lambda a: None,
    "type": lambda a: float,
    "object": lambda a: object(),
    "nested": lambda a: [[x] for x in a.tolist()],
}


def _made(a: np.ndarray, how: Any) -> Any:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return how(a)
    except Exception:  # of some types there is no such thing, as every package says in its own way
        return a


_VALUES = ["good"] * 8 + ["special", "some special", "equal", "tied", "wide"]


@st.composite
def values(draw: Any, name: str, n: int) -> Any:
    """The events' values of one argument."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    a = _values(name, n, rng, draw(st.sampled_from(_VALUES)))
    default = {"label": "l", "category": "l"}.get(name, "d")
    kind = draw(st.sampled_from([default] * 20 + _TYPES + _NO_NUMBERS))
    with np.errstate(all="ignore"):
        a = a.astype(kind) if kind != [("a", "f8"), ("b", "i4")] else np.zeros(n, kind)
    how = draw(st.sampled_from([None] * 24 + [_SHAPES] * 8 + [_CONTAINERS] * 4))
    return a if how is None else _made(a, how[draw(st.sampled_from(sorted(how)))])


@st.composite
def events(draw: Any) -> dict[str, Any]:
    """The arguments score and mass, and perhaps weight, label and category; seldom of different lengths."""
    n = draw(st.sampled_from([60] * 8 + [0, 1, 2, 3, 5, 9, 31, 33, 300]))
    given = {}
    for name in NAMES:
        if name in ("score", "mass") or draw(st.integers(0, 3)) == 0:
            length = draw(st.sampled_from([n] * 30 + [max(n - 1, 0), n + 1, 2 * n]))
            given[name] = draw(values(name, length))
    return given


GARBAGE = [None, True, False, 0, 1, -1, 2, 3, 17, 2**31, -(2**31), 2**63, 2**70, 10**400, 10**5000, 0.0, 0.5, -0.5, 1.5, 1e308, 5e-324,
            float("nan"), float("inf"), -float("inf"), "", "1", "none", "quantile", b"1", (), [], {}, set(), (1,), (0, 1), (1, 0), (0, 0),
            (0.0, float("nan")), (None, None), [None, (0, 1)], ((0, 1), (1, 2)), [[0, 100, 200], [0, 1]], (2, 3), [1.0, 2.0, 3.0],
            [3, 2, 1], ["a"], [b"a"], {"a": 1}, 1j, [1j], object(), float, np.float32(0.5), np.int8(1), np.array(1), np.array([1, 2]),
            np.array([[1.0, 2.0], [3.0, 4.0]]), np.array(["a"]), np.array(np.nan), np.bool_(True), decimal.Decimal("NaN"),
            fractions.Fraction(1, 2), range(3), slice(3), np.ma.masked, pd.NA, pd.NaT, pd.Series([1.0, 2.0]), pd.DataFrame({"a": [1]}), (10**400, 10**401),
            [10**400], np.datetime64("2020"), np.zeros(0), np.zeros((0, 2)), [[]], [()], [[[1]]]]  # fmt: skip

_GOOD: dict[str, list[Any]] = {
    "order": [0, 1, 2, 3], "bins": [1, 2, 4, (3, 4)], "binning": ["quantile", "uniform", "edges"],
    "edges": [(50, 100, 250), [[50, 100, 250], [51, 120, 251]]], "moments": ["quadrature", "projection"], "max_slope": [0.1, None],
    "slope_of": ["rejected", "selected"], "slope_penalty": [0, 1.5], "monotonic": [True, False], "unbiased": [True, False],
    "mass_range": [(60, 200), None, [(60, 200), None]], "score_range": [(0, 1), None, (-1, 2)], "background_label": [0, 1, (0, 1)],
    "reduction": ["mean", "sum"], "joint": [True, False], "missing": ["error", "ignore"],
}  # fmt: skip
assert set(_GOOD) == set(LossOptions.__annotations__)


def _option(name: str) -> st.SearchStrategy[Any]:
    return st.sampled_from(_GOOD[name] * 6 + GARBAGE)


@st.composite
def options(draw: Any) -> dict[str, Any]:
    """A few options, most of them good ones."""
    names = draw(st.sets(st.sampled_from(sorted(_GOOD)), max_size=draw(st.sampled_from([0, 0, 1, 1, 2, 4]))))
    return {name: draw(_option(name)) for name in sorted(names)}


def sentence_of(error: Exception, names: re.Pattern[str] = NAMED) -> str:
    """The sentence of a TypeError or ValueError, asserted to name an argument."""
    assert type(error).__name__ in ("TypeError", "ValueError", "BatchError"), repr(error)
    assert names.search(str(error)), f"no argument is named: {error}"
    return str(error)
