"""An option that is given with its default is the option that is left out: NumPy's functions and the metrics."""

import dataclasses

import libmode
import numpy as np
import pytest
from defaults import DEFAULTS, of_signature
from libmode import metrics

RNG = np.random.default_rng(1)
LABEL = RNG.integers(0, 2, 4_000)
MASS = RNG.uniform(50, 300, 4_000)
SCORE = 1 / (1 + np.exp(-RNG.normal(LABEL) - 0.004 * MASS))
LOSSES = [(loss, name) for loss, defaults in DEFAULTS.items() for name in defaults]


def numbers(result):
    """The numbers of a result: a number, an array, a tuple, a dataclass or a dict of them."""
    if dataclasses.is_dataclass(result):
        result = {field.name: getattr(result, field.name) for field in dataclasses.fields(result)}
    if isinstance(result, dict):
        result = list(result.values())
    if isinstance(result, (tuple, list)):
        return [number for one in result for number in numbers(one)]
    return [] if result is None else np.ravel(result).tolist()


def assert_same(function, more):
    found, want = numbers(function(**more)), numbers(function())
    assert len(want) > 0
    np.testing.assert_array_equal(found, want)


@pytest.mark.parametrize("loss, name", LOSSES)
def test_of_losses(loss, name):
    given = {"mass": MASS, "label": LABEL, "loss": loss} | ({"order": 1} if loss == "mode" else {})
    more = {name: DEFAULTS[loss][name]}
    assert_same(lambda **more: libmode.mode_loss_and_grad(SCORE, **given, **more), more)


FUNCTIONS = [libmode.mode_evaluate, libmode.mode_moments, libmode.mode_edges, libmode.mode_loss]
MODE = [(one, name) for one in FUNCTIONS for name in {**DEFAULTS["mode"], **of_signature(one)} if name != "label"]


@pytest.mark.parametrize("function, name", MODE, ids=lambda one: getattr(one, "__name__", one))
def test_of_functions(function, name):
    if function is libmode.mode_edges and name in ("score_range", "reduction", "moments", "max_slope", "slope_of"):
        name = "bins"
    given = {"mass": MASS, "label": LABEL, "order": 1} | ({} if function is libmode.mode_edges else {"score": SCORE})
    default = {**DEFAULTS["mode"], **of_signature(function)}[name]
    assert_same(lambda **more: function(**given, **more), {name: default})


@pytest.mark.parametrize("loss", DEFAULTS)
@pytest.mark.parametrize("function", [libmode.mode_loss_and_grad, libmode.mode_loss])
def test_without_a_label_all_events_are_background(function, loss):
    order = {"order": 1} if loss == "mode" else {}
    none, left_out, zeros, labels = (
        numbers(function(SCORE, MASS, loss=loss, **order, **label))
        for label in ({"label": None}, {}, {"label": 0 * LABEL}, {"label": LABEL})
    )
    assert none == left_out == zeros != labels


def test_metrics_without_a_label_are_those_of_background():
    none, zeros = (numbers(metrics.efficiency(SCORE, label, MASS, threshold=0.4)) for label in (None, 0 * LABEL))
    np.testing.assert_array_equal(none, zeros)


#: The arguments without which a metric has no value.
CUT, ORDER = {"signal_efficiency": 0.5}, {"order": 1}
NEEDED = {"auc": {}, "roc": {}, "threshold": CUT, "rejection": CUT, "efficiency": CUT, "check": ORDER}
#: The defaults of arguments that a signature does not list.
FURTHER = {"efficiency": {"bins": None, "mass_range": None}}
OF_METRICS = [
    (name, argument)
    for name in NEEDED
    for argument in {**of_signature(getattr(metrics, name)), **FURTHER.get(name, {})}
    if argument not in ("score", "label", "mass", *NEEDED[name])
]


@pytest.mark.parametrize("name, argument", OF_METRICS)
def test_of_metrics(name, argument):
    function = getattr(metrics, name)
    default = {**of_signature(function), **FURTHER.get(name, {})}[argument]
    events = {"score": SCORE, "label": LABEL}
    if name not in ("auc", "roc", "threshold", "rejection"):
        events["mass"] = MASS
    assert_same(lambda **more: function(**events, **NEEDED[name], **more), {argument: default})
