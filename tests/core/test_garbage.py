"""Whatever one argument is given: a finite number and a gradient, or a sentence that names an argument."""

import decimal
import fractions
import itertools
import re
import warnings

import libmode
import numpy as np
import pandas as pd
import pytest
from libmode.option_types import LossOptions

ARRAYS = ("score", "mass", "weight", "label", "category")
#: What a sentence must hold, as a word.
NAMED = re.compile(rf"\b(score|mass|masses|weights?|label|category|{'|'.join(LossOptions.__annotations__)})\b")
SPECIAL = [np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0, 5e-324, 1e-40, 3.5e38, -1e308, 1.7e308, 2.0**53]

GARBAGE = [None, True, 0, 1, -1, 2, 17, 2**31, -(2**31), 2**63, 2**70, 10**400, 0.0, 0.5, -0.5, 1.5, 1e308, 5e-324, np.nan, np.inf, -np.inf,
           "", "1", "none", b"1", (), {}, set(), (1,), (0, 1), (1, 0), (0, 0), (0.0, np.nan), (None, None), [None, (0, 1)], ((0, 1), (1, 2)),
           [[0, 100, 200], [0, 1]], [1.0, 2.0, 3.0], [3, 2, 1], ["a"], {"a": 1}, 1j, object(), float, np.float32(0.5), np.int8(1), np.array(1),
           np.array([[1.0, 2.0], [3.0, 4.0]]), np.array(["a"]), np.bool_(True), decimal.Decimal("NaN"), fractions.Fraction(1, 2), range(3),
           slice(3), np.ma.masked, pd.NA, pd.NaT, pd.Series([1.0, 2.0]), (10**400, 10**401), np.datetime64("2020"), np.zeros((0, 2)), [[[1]]]]  # fmt: skip

#: What an array becomes.
SPOILT = {
    "special": lambda a: np.resize(SPECIAL, len(a)),
    "wide": lambda a: a * 10.0 ** np.linspace(-320, 300, len(a)),
    "unaligned": lambda a: np.frombuffer(b"x" + a.tobytes(), np.uint8)[1:].view(a.dtype),
    "broadcast": lambda a: np.broadcast_to(a[:1], (len(a),)),
    "(1, n)": lambda a: a[None],
    "(n, 0)": lambda a: np.zeros((len(a), 0)),
    "4 columns": lambda a: np.stack([a] * 4, 1),
    "shorter": lambda a: a[1:],
    "empty": lambda a: a[:0],
    "masked": lambda a: np.ma.masked_array(a, mask=np.arange(len(a)) % 5 == 0),
    "other index": lambda a: pd.Series(a, index=np.roll(np.arange(len(a)), 1)),
    "decimals": lambda a: [decimal.Decimal(repr(float(x))) for x in a],
    "huge integers": lambda a: [2**70 + k for k in range(len(a))],
    "with None": lambda a: [*a.tolist(), None],
    "texts": lambda a: [repr(x) for x in a.tolist()],
    **{
        kind: lambda a, kind=kind: a.astype(kind) for kind in ("F", "?", "b", "L", ">f2", "g", "O", "U3", "m8[s]", "V4")
    },
}


def found_or_sentence(**given):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            loss, grad = libmode.mode_loss_and_grad(**given)
        except Exception as error:
            assert type(error).__name__ in ("TypeError", "ValueError", "BatchError"), repr(error)
            assert NAMED.search(str(error)), error
        else:
            assert type(loss) is float and np.isfinite(loss) and np.isfinite(grad).all()


@pytest.mark.parametrize("name", [*ARRAYS, *LossOptions.__annotations__])
def test_a_loss_or_a_sentence(name):
    rng = np.random.default_rng(1)
    for n, several in itertools.product((60, 1, 300), (False, True)):
        given = {"score": rng.random(n), "mass": rng.uniform(50, 250, n), "weight": rng.normal(1, 0.5, n)}
        given |= {"label": rng.integers(0, 2, n), "category": rng.integers(0, 2, n), "order": 1}
        with np.errstate(all="ignore"):
            values = [spoil(given[name]) for spoil in SPOILT.values()] if name in ARRAYS else []
        given["mass"] = np.stack([given["mass"]] * 2, 1) if several and name != "mass" else given["mass"]
        for value in [*values, *GARBAGE]:
            found_or_sentence(**given | {name: value})
