"""The numbers of ``libmode report`` are those of libmode.metrics, and its page shows them in the unit of the mass."""

import numpy as np
import pytest
import report_toys
from libmode import metrics
from numpy.testing import assert_allclose

SCORES = ("flat", "carved")


@pytest.fixture(scope="module")
def labeled(files, tmp_path_factory):
    """The numbers of a report with everything."""
    folder = tmp_path_factory.mktemp("labeled")
    options = ["--score", "flat", "--score", "carved", "--mass", "mass", "--label", "label", "--weight", "weight"]
    options += ["--cut", "mass < 250", "--order", 1, "--signal-efficiency", "0.8,0.3", "--out", folder]
    status, printed = report_toys.report(files["root"], *options)
    assert status == 0, printed
    return report_toys.numbers(folder)


@pytest.fixture(scope="module")
def passing(toy):
    """The events of that report."""
    return {name: values[toy["mass"] < 250] for name, values in toy.items()}


@pytest.mark.parametrize("place", range(2))
def test_numbers_of_a_score(labeled, passing, place):
    found, score = labeled["scores"][place], passing[SCORES[place]]
    label, mass, weight = passing["label"], passing["mass"], passing["weight"]
    assert found["auc"] == pytest.approx(metrics.auc(score, label, weight=weight), rel=1e-12)
    want = metrics.check(score, label, mass, weight=weight, order=1, signal_efficiency=[0.8, 0.3])
    assert found["check"]["why"] == want.why and found["check"]["p_value"] == pytest.approx(want.p_value, rel=1e-9)
    for cut, of_check in zip(found["check"]["cuts"], want.cuts, strict=True):
        assert cut["flat"] is of_check.flat
        assert cut["spurious_signal"] == pytest.approx(of_check.spurious_signal, rel=1e-9)
        rejection = metrics.rejection(score, label, signal_efficiency=float(cut["name"]) / 100, weight=weight)
        assert 1 / cut["background_efficiency"] == pytest.approx(rejection, rel=1e-9)

    whole, thinned = metrics.roc(score, label, weight=weight), found["roc"]
    assert 500 < len(thinned["threshold"]) <= 1000
    assert thinned["threshold"][0] is None  # infinite, which JSON has not
    at = [0, *np.searchsorted(-whole.threshold, -np.array(thinned["threshold"][1:]))]
    for name in ("signal_efficiency", "false_positive_rate"):
        assert_allclose(thinned[name], getattr(whole, name)[at], rtol=1e-12)
