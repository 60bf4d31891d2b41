"""A mass that is not known, -999 say, stretches the range that is taken by default: that is said once."""

import warnings

import libmode
import numpy as np
import pandas as pd
import pytest
from libmode import metrics
from libmode._problems import far

SENTENCE = (
    r"mass is -999 for 30 of 3000 events \(1 %\): its range, -999 to \d+.*, is \d times that from the 1st to the 99th "
    r"percentile of the others, 50\.\d+ to 3\d\d.*: leave out events without a mass, and give mass_range"
)


def events(n=3000, lost=30, value=-999.0):
    rng = np.random.default_rng(1)
    mass = 50 + rng.exponential(60, n)
    mass[rng.permutation(n)[:lost]] = value
    return rng.random(n), mass


def warned(call):
    """What a call says."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        call()
    return [str(warning.message) for warning in found]


# ------------------------------------------------------------------ what is far


@pytest.mark.parametrize(
    "lost, value, start",
    [
        (30, -999, "mass is -999 for 30 of 3000 events (1 %): its range, -999 to "),
        (300, -999, "mass is -999 for 300 of 3000 events (10 %)"),
        (1, 1e6, "mass is 1e+06 for 1 of 3000 events (0.033 %)"),
        (3, [3000, 4000, 5000], "mass is up to 5000 for 3 of 3000 events (0.1 %)"),
        (30, np.nan, None),  # of an absent variable
        (3, 500, None),
        (2995, -999, None),  # no bulk
        (3000, np.nan, None),
    ],
)
def test_few_masses_far_from_all_others(lost, value, start):
    found = far(events(lost=lost, value=value)[1].astype(np.float32))
    assert found is None if start is None else found.startswith(start)


# ------------------------------------------------------------------ where it is said


@pytest.mark.parametrize(
    "call",
    [
        libmode.mode_loss,
        libmode.mode_loss_and_grad,
        lambda score, mass, **given: metrics.check(score, None, mass, background_efficiency=0.5, **given),
    ],
)
def test_a_loss_warns_and_a_mass_range_is_the_remedy(call):
    score, mass = events()
    with pytest.warns(UserWarning, match=SENTENCE) as found:
        call(score, mass, order=1)
    assert found[0].filename == __file__
    assert warned(lambda: call(score, mass, order=1, mass_range=(50, 400))) == []


def test_only_selected_events_and_variables_without_a_range_count():
    score, mass = events()
    label = (mass == -999).astype(int)
    assert warned(lambda: libmode.mode_loss(score, mass, label=label, order=0)) == []
    assert len(warned(lambda: libmode.mode_loss(score, mass, label=0 * label, order=0))) == 1
    both = np.column_stack([events(lost=0)[1], mass])
    assert len(warned(lambda: libmode.mode_loss(score, both, order=0))) == 1
    assert len(warned(lambda: libmode.mode_loss(score, both, mass_range=[(0, 1000), None], order=0))) == 1
    assert warned(lambda: libmode.mode_loss(score, both, mass_range=[None, (0, 1000)], order=0)) == []


# ------------------------------------------------------------------ masked masses

MASKED = {
    "NumPy": lambda mass, hidden: np.ma.array(mass, mask=hidden),
    "two variables": lambda mass, hidden: np.ma.array(
        np.column_stack([mass, 2 * mass]), mask=np.column_stack([hidden, ~hidden & (mass > 200)])
    ),
    "Awkward": lambda mass, hidden: pytest.importorskip("awkward").Array(np.ma.array(mass, mask=hidden).tolist()),
    "pandas": lambda mass, hidden: pd.Series(mass.astype(int)).astype("Int64").mask(hidden),
}


@pytest.mark.parametrize("kind", MASKED)
def test_a_masked_mass_is_missing(kind):
    score, mass = events(lost=0)
    hidden = np.random.default_rng(2).random(len(mass)) < 0.1
    given = MASKED[kind](mass, hidden)
    plain = np.where(hidden, np.nan, mass.astype(int) if kind == "pandas" else mass)
    if kind == "two variables":
        plain = np.column_stack([plain, np.where(~hidden & (mass > 200), np.nan, 2 * mass)])
    want = libmode.mode_loss_and_grad(score, plain, missing="ignore", order=0)
    loss, grad = libmode.mode_loss_and_grad(score, given, missing="ignore", order=0)
    assert loss == want[0] and (grad == want[1]).all()
    with pytest.raises(ValueError, match=r"mass\[\d+\] = NaN.* missing"):
        libmode.mode_loss(score, given, order=0)
