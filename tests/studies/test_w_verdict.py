"""The judgment of counts of test jets: by spectra whose truth is known."""

import functools
import json
from math import sqrt

import numpy as np
import pytest

from studies.w_tagging import sample, testing, verdict
from studies.w_tagging.measure import BIAS_EDGES

JETS = 133_000
RATE = 0.12  # of QCD jets kept
PARTS = np.diff(np.exp(-BIAS_EDGES / 40.0))
PARTS /= PARTS.sum()  # of the unselected spectrum in each bin: it falls as an exponential
W_MASS, WIDTH = 80.4, 7.0


@functools.cache
def fit():
    """That of the unselected jets."""
    spectrum = np.round(3 * JETS * PARTS).astype(int)
    return verdict.Fit(np.repeat(verdict.CENTERS, spectrum), np.random.default_rng(0).normal(W_MASS, WIDTH, 10_000))


def judgment(rng, kept_as=lambda mass: 1.0, hill=0.0, trainings=3, **counts):
    """Some trainings whose fraction kept goes as ``kept_as``, with ``hill`` more of it at the W's mass."""
    shape = kept_as(verdict.CENTERS) * (1 + hill * np.exp(-(((verdict.CENTERS - W_MASS) / WIDTH) ** 2) / 2))
    of = []
    for _ in range(trainings):
        spectrum = rng.poisson(JETS * RATE * PARTS * shape)
        kept = {"kept": int(spectrum.sum()), "spectrum": spectrum.tolist(), "residual": 0.03, "expected": 0.03}
        of.append(verdict.together([kept | counts]))
    return verdict.Judgment("", 0.0, JETS, tuple(of), fit())


def test_a_selection_that_is_flat_or_linear_is_unbiased_and_a_hill_is_not():
    rng = np.random.default_rng(1)
    for kept_as in (lambda mass: np.ones_like(mass), lambda mass: 0.5 + mass / 160):
        passed = [verdict.is_unbiased(judgment(rng, kept_as)) for _ in range(20)]
        assert sum(passed) >= 16  # a true bias of 0 fails in 7 of 100
    passed = [verdict.is_unbiased(judgment(rng, hill=0.15)) for _ in range(10)]
    assert sum(passed) <= 1  # a hill of 15 % is 1.5 errors in a search


def test_the_bias_is_that_of_a_search_whatever_the_number_of_jets():
    rng = np.random.default_rng(2)
    found = np.mean([judgment(rng, hill=0.3).biases[0][0].mean for _ in range(10)])
    # With as many jets as the search has, the mean significance itself.
    small = []
    for _ in range(100):
        shape = 1 + 0.3 * np.exp(-(((verdict.CENTERS - W_MASS) / WIDTH) ** 2) / 2)
        spectrum = rng.poisson(verdict.SEARCH * RATE * PARTS * shape)
        small.append(fit().found(np.repeat(verdict.CENTERS, spectrum), fit().degree).significance)
    assert found == pytest.approx(np.mean(small), abs=0.3)  # three times the error of both means


def test_a_bias_that_changes_its_sign_from_training_to_training_counts():
    rng = np.random.default_rng(3)
    up, down = judgment(rng, hill=0.5), judgment(rng, hill=-0.5)
    both = verdict.Judgment("", 0.0, JETS, (up.of[0], down.of[0]), up.fit)
    mean, size = both.biases[0]
    assert abs(mean.mean) < mean.error and size > verdict.SPURIOUS


def test_a_spectrum_without_a_fit_is_not_unbiased():
    for few in (0, 1):
        none = judgment(np.random.default_rng(4), spectrum=[few] + [0] * (len(PARTS) - 1))
        assert none.biases[0] is None and not verdict.is_unbiased(none)


def test_the_shape_is_what_chance_does_not_explain_and_r50_has_an_error_of_counts_and_of_trainings():
    rng = np.random.default_rng(5)
    assert judgment(rng, residual=0.05, expected=0.03).shape == pytest.approx(0.04)
    assert judgment(rng, residual=0.02, expected=0.03).shape == 0
    assert not verdict.is_as_wanted(judgment(rng, residual=0.06, expected=0.03))
    assert judgment(rng, kept=13_300).r50 == pytest.approx((10, 10 / sqrt(13_300)))
    one, other = judgment(rng, kept=13_300).of[0], judgment(rng, kept=12_350).of[0]
    both = verdict.Judgment("", 0.0, JETS, (one, other), fit()).r50
    assert both.mean == pytest.approx((JETS / 13_300 + JETS / 12_350) / 2)
    assert both.error > (JETS / 12_350 - JETS / 13_300) / 2  # half of the difference is the error from the spread


def test_more_test_jets_are_added_training_by_training():
    parts = [{"kept": 5, "spectrum": [1, 2], "residual": 0.05, "expected": 0.03}]
    parts.append({"kept": 7, "spectrum": [3, 4], "residual": 0.01, "expected": 0.03})
    found = verdict.together(parts)
    assert found.kept == 12 and found.spectrum.tolist() == [4, 6]
    assert found.shape == pytest.approx((5 * 0.0016 - 7 * 0.0008) / 12)


def test_test_jets_are_added_to_those_that_there_are(monkeypatch, tmp_path, capsys):
    """From the trainings to the tables, on few jets: those of the tree stand in for jets for testing."""
    tree = sample.load()
    monkeypatch.chdir(tmp_path)
    qcd = np.flatnonzero(tree.label == 0)
    for seed, some in ((1, qcd[:6_000]), (2, qcd[6_000:12_000])):
        arrays = {name: getattr(tree, name)[some] for name in sample.ARRAYS if name != "features"}
        sample.write(sample.Sample(tree.names, tree.features[some], **arrays), sample.testing(seed), labels=(0,))
        monkeypatch.setattr("sys.argv", ["testing", "--quick", "--seed", str(seed), "--processes", "1"])
        testing.main()
    path = tmp_path / "build/studies/testing-quick.json"
    found = json.loads(path.read_text())["test jets"]
    assert list(found) == ["1", "2"] and found["1"]["jets"] == 6_000
    assert found["1"]["spectrum"] != found["2"]["spectrum"]
    counts = found["2"]["trainings"]["1"]
    assert len(counts) == len(testing.OF_QUICK) + len(testing.ORDERS)
    for one in counts.values():
        assert 0 < sum(one["spectrum"]) <= one["kept"] < 6_000 and one["residual"] > 0 < one["expected"]
    # A map of order 0 is flatter than what it maps.
    assert counts[testing.key(testing.mapped(0), 0)]["residual"] < counts["unconstrained, strength 0"]["residual"]
