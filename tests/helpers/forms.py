"""Calls of every form that mode_loss takes: one variable in each kind of bins, and several variables.

Options are what hypothesis chooses; the events follow from a seed that it chooses. A call is one that the library
accepts with its bias, so that no bin has canceled.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import libmode
import numpy as np
from hypothesis import reject
from hypothesis import strategies as st

TICKS = 1024  # masses are multiples of 1/TICKS
EDGES = [0.0, 0.125, 0.25, 0.5, 0.75, 1.0, 1.5, 8.0]
OF_SECOND = [-1.0, -0.5, 0.0, 0.5, 1.0]

#: Forms of one variable in bins, with polynomials: those that have slopes, and bounds on them.
BOUNDED = ("quantile", "bins by default", "uniform", "edges", "values")
SEVERAL = ("variables", "variables with edges", "cells of quantiles", "cells of a grid")
FORMS = (*BOUNDED, *SEVERAL)

#: Generators of random numbers.
seeds = st.integers(0, 2**32 - 1).map(np.random.default_rng)


class Call(NamedTuple):
    """The arguments of a call."""

    events: dict[str, np.ndarray]  # score, mass, and perhaps weight, label and category
    options: dict[str, Any]

    def __repr__(self) -> str:
        return f"Call of {len(self.weight)} events with {', '.join(self.events)}, {self.options}"

    def given(self, **changed: Any) -> Call:
        """With these events or options in place of the call's; None leaves one out."""
        events, options = dict(self.events), dict(self.options)
        for name, value in changed.items():
            place = events if name in ("score", "mass", "weight", "label", "category") else options
            place[name] = value
            if value is None and name != "score_range":
                del place[name]
        return Call(events, options)

    @property
    def weight(self) -> np.ndarray:
        """The weights, which are 1 where none are given."""
        return self.events.get("weight", np.ones(len(self.events["score"])))

    def __call__(self, function: Any = libmode.mode_loss, **more: Any) -> Any:
        """What a function of the library makes of it."""
        return function(**self.events, **self.options, **more)


@st.composite
def calls(
    draw: Any,
    forms: Sequence[str] = FORMS,
    scores: Sequence[str] = ("tied", "apart", "saturated"),
    parts: bool = True,
    **fixed: Any,
) -> Call:
    """A call of one of these forms; ``parts``: perhaps with labels and categories. Options in ``fixed`` are as given."""
    form = draw(st.sampled_from(forms))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    options = draw(_options(form, fixed))
    n = draw(st.sampled_from([150, 400]))
    events = {"score": _scores(rng, n, draw(st.sampled_from(scores)))}
    events["mass"] = _masses(rng, n, form)
    if options.get("missing") == "ignore":
        events["mass"][rng.random(events["mass"].shape) < 0.1] = np.nan
    kind = draw(st.sampled_from(["none", "positive", "signed"]))
    if kind != "none":
        events["weight"] = rng.choice([0.5, 1.0, 1.75, 3.0], n)
    if kind == "signed":
        events["weight"][rng.random(n) < 0.08] = -0.25
    if parts and draw(st.booleans()):
        events["label"] = rng.integers(0, 3, n)
        options["background_label"] = draw(st.sampled_from([1, (0, 2)]))
    if parts and draw(st.booleans()):
        events["category"] = rng.integers(0, 2, n)
    call = Call(events, options)
    try:
        call(libmode.mode_evaluate, grad=False)
    except libmode.BatchError:  # a bin with one event in effect, or one that has canceled
        reject()
    return call


def _scores(rng: np.random.Generator, n: int, kind: str) -> np.ndarray:
    if kind == "tied":
        return rng.integers(1, 16, n) / 16
    apart = rng.permutation(4 * n)[:n] / 4096 + 1 / 8192
    return np.where(rng.random(n) < 0.3, rng.integers(0, 2, n), apart) if kind == "saturated" else apart


def _masses(rng: np.random.Generator, n: int, form: str) -> np.ndarray:
    falling = np.minimum(np.ceil(rng.exponential(size=n) * TICKS) / TICKS, 8.0)
    if form == "values":
        return rng.integers(2010, 2019, n).astype(float)
    if form not in SEVERAL:
        return falling
    return np.column_stack([falling, rng.integers(-TICKS, TICKS, n) / TICKS])


@st.composite
def _options(draw: Any, form: str, fixed: dict[str, Any]) -> dict[str, Any]:
    def pick(name: str, *values: Any) -> Any:
        return fixed[name] if name in fixed else draw(st.sampled_from(values))

    order = pick("order", 0, 1, 2) if "cells" in form else pick("order", 0, 1, 2, 3, 5)
    chosen: dict[str, Any] = {
        "order": order,
        "unbiased": pick("unbiased", False, True),
        "reduction": pick("reduction", "mean", "sum"),
        "score_range": pick("score_range", (0, 1), (-0.5, 2), None),
    }
    bins = order + 2 + draw(st.integers(0, 4))
    if form in BOUNDED:
        chosen["moments"] = "projection" if form == "values" else pick("moments", "projection", "quadrature")
        if order >= 1:
            chosen["max_slope"] = pick("max_slope", None, 0.1, 1.0)
            chosen["slope_of"] = pick("slope_of", "rejected", "selected")
            chosen["slope_penalty"] = pick("slope_penalty", 0.0, 2.0)
        if order >= 2:
            chosen["monotonic"] = pick("monotonic", False, True)
    match form:
        case "quantile":
            chosen |= {"bins": bins, "mass_range": pick("mass_range", None, (0.25, 4.0))}
        case "bins by default":
            chosen |= {"binning": draw(st.sampled_from(["quantile", "uniform"]))}
        case "uniform":
            chosen |= {"binning": "uniform", "bins": bins, "mass_range": (0.0, 2.0)}
        case "edges":
            chosen |= {"edges": EDGES}
        case "values":
            chosen |= {"binning": "values"}
        case "variables":
            chosen |= {"bins": (bins, bins + 1), "missing": draw(st.sampled_from(["error", "ignore"]))}
            chosen |= {"mass_range": draw(st.sampled_from([None, [(0.25, 4.0), None]]))}
        case "variables with edges":
            chosen |= {"order": min(order, 2), "edges": [EDGES, OF_SECOND], "missing": "ignore"}
        case "cells of quantiles":
            chosen |= {"joint": True, "bins": (4, 3), "missing": draw(st.sampled_from(["error", "ignore"]))}
        case "cells of a grid":
            chosen |= {"joint": True, "edges": [[0.0, 0.25, 0.75, 1.5, 8.0], OF_SECOND], "missing": "ignore"}
    return {name: value for name, value in chosen.items() if value is not None or name == "score_range"}
