"""Arguments that have a value for each event: one name for weights, and one index of pandas."""

import libmode
import numpy as np
import pandas as pd
import pytest
from libmode import metrics

N = 400
ARRAYS = {"score", "mass", "weight", "label", "category"}
TAKERS = {
    libmode.mode_loss: ("score", "mass", "weight", "label", "category", "order"),
    libmode.mode_edges: ("mass", "weight", "label", "order"),
    metrics.roc: ("score", "label", "weight"),
    metrics.efficiency: ("score", "label", "mass", "weight", "signal_efficiency"),
    metrics.check: ("score", "label", "mass", "weight", "order", "category"),
}


def arguments(function):
    """Good ones, by name."""
    rng = np.random.default_rng(1)
    given = {"score": rng.random(N), "mass": rng.random(N), "weight": rng.random(N), "category": np.arange(N) % 2}
    given |= {"label": np.arange(N) % 2, "signal_efficiency": 0.5, "order": 0}
    return {name: given[name] for name in TAKERS[function]}


@pytest.mark.parametrize("function", TAKERS)
def test_series_of_another_index_are_an_error(function):
    given = arguments(function)
    names = [name for name in given if name in ARRAYS]
    series = {name: pd.Series(given[name]) for name in names}
    function(**{**given, **series})
    for name in names:
        other = next(one for one in names if one != name)
        for index in (np.arange(N)[::-1], np.arange(1, N + 1)):  # in another order, and of other rows
            one = pd.Series(given[name], index)
            with pytest.raises(
                ValueError,
                match=f"({name} and {other}|{other} and {name}) have different indexes, and libmode matches events",
            ):
                function(**{**given, other: series[other], name: one})
