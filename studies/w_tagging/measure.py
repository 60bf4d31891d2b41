"""Measures selections of half of the W jets: the efficiency and the mass spectrum of QCD jets."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from libmode import metrics
from libmode.metrics.mass import Efficiency
from scipy import stats
from scipy.spatial.distance import jensenshannon

from ..spectra import Fitted, fitted, residual
from .classifiers import RANGE
from .sample import MASS, Sample

EFFICIENCY = 0.5  # of the signal: the 50 of R50
BINS = 20  # of mass, with as many QCD jets of the sample in each
FINE_EDGES = np.linspace(*MASS, 51)
ROC = np.linspace(0.01, 0.99, 99)
REPEATS = 100  # of the bootstrap
BLIND = 20  # random selections
PSEUDO = 50  # background pseudo-samples

# The fit of a polynomial and a signal: at the W's mass, in the part of the spectrum around it.
W_MASS = 80.4
BIAS_EDGES = np.geomspace(50, 120, 19)
DEGREES = range(2, 9)
PROBABLE = 0.001  # of chi2; fluctuations reach 0.05 at any degree, and a bad fit of many jets is far below
BETTER = 3.84  # the decrease of chi2 by one more degree that chance exceeds in one case of twenty


def mass_edges(sample: Sample) -> np.ndarray:
    """Bin edges from 50 to 300 GeV, (BINS + 1,)."""
    inner = np.quantile(sample.mass[sample.label == 0].astype(float), np.linspace(0, 1, BINS + 1)[1:-1])
    return np.round([MASS[0], *inner, MASS[1]], 2)


def performance(
    score: np.ndarray, mass: np.ndarray, label: np.ndarray, order: int, edges: np.ndarray, fit: Fit
) -> dict[str, Any]:
    """Measures scores (n,) of jets, for JSON.

    order : of the polynomial in mass that the selection may follow
    edges : what mass_edges() returns
    """
    curve = metrics.roc(score, label)
    cut = metrics.threshold(score, label, signal_efficiency=EFFICIENCY)
    events = score, label, mass
    rate = metrics.efficiency(*events, threshold=cut, bins=edges)
    background = label == 0
    flatness = residual(mass[background], score[background] >= cut, np.minimum(edges, RANGE[1]), order)
    r50 = metrics.rejection(score, label, threshold=cut)
    mass, selected = mass[label == 0], score[label == 0] >= cut
    resampled = stats.bootstrap(
        (np.arange(len(score)),),
        lambda drawn: metrics.rejection(score[drawn], label[drawn], signal_efficiency=EFFICIENCY),
        n_resamples=REPEATS,
        batch=1,
        vectorized=False,
        method="percentile",
        rng=np.random.default_rng(0),
    )
    rng = np.random.default_rng(0)
    return {
        "auc": metrics.auc(score, label),
        "r50": r50,
        "r50_error": float(resampled.standard_error),
        "jsd": divergence(rate),
        "rate": _short(rate.value),
        "flatness": flatness.rms,
        "flatness_expected": flatness.expected,
        "bias": fit.bias(mass[selected], fit.degree, rng),
        "bias_of_next": fit.bias(mass[selected], fit.degree + 1, rng),
        "blind_jsd": _blind(mass, selected, edges, rng),
        "selected": np.histogram(mass[selected], FINE_EDGES)[0].tolist(),
        "background": np.histogram(mass, FINE_EDGES)[0].tolist(),
        "roc": _short(np.interp(ROC, curve.signal_efficiency, curve.false_positive_rate)),
    }


def divergence(rate: Efficiency) -> float:
    """The Jensen-Shannon divergence between the masses of selected and of rejected background, in base 2."""
    return float(jensenshannon(rate.selected, rate.background - rate.selected, base=2) ** 2)


def _blind(mass: np.ndarray, selected: np.ndarray, edges: np.ndarray, rng: np.random.Generator) -> float:
    """The mean JSD of random selections of as many jets."""
    spectra = ({"mass": mass, "selected": rng.permutation(selected), "bins": edges} for _ in range(BLIND))
    return float(np.mean([divergence(metrics.efficiency(**one)) for one in spectra]))


def _short(values: np.ndarray) -> list[float]:
    return [float(f"{value:.4g}") for value in values]


def fit_of(sample: Sample) -> Fit:
    """The fit for a sample of both classes."""
    return Fit(sample.mass[sample.label == 0], sample.mass[sample.label == 1])


class Fit:
    """Polynomial and signal, fitted to spectra of selected QCD jets.

    background, signal : masses (n,) of unselected jets, in GeV

    width : of the signal: half of what holds the central 68 % of the W jets, in GeV
    degree : of the polynomial, the lowest of DEGREES that fits the spectrum of all QCD jets
        (chi2 probability of at least PROBABLE) and that one degree more does not improve (by BETTER)
    fits : what led to that
    """

    def __init__(self, background: np.ndarray, signal: np.ndarray) -> None:
        low, high = np.quantile(signal, [0.16, 0.84])
        self.width = float(high - low) / 2
        self.fits = []
        for degree in DEGREES:
            found = self.found(background, degree)
            probability = float(stats.chi2.sf(found.chi2, found.ndof))
            self.fits.append(
                {"degree": degree, "chi2": found.chi2, "ndof": found.ndof,
                 "probability": probability, "significance": found.significance}
            )  # fmt: skip
        good = (
            one["degree"]
            for one, following in pairwise(self.fits)
            if one["probability"] >= PROBABLE and one["chi2"] - following["chi2"] < BETTER
        )
        self.degree = next(good, -1)
        if self.degree < 0:
            raise RuntimeError(
                f"no polynomial of degree {DEGREES[0]} to {DEGREES[-2]} fits the unselected QCD spectrum from "
                f"{BIAS_EDGES[0]:g} to {BIAS_EDGES[-1]:g} GeV: {self.fits}"
            )

    def bias(self, mass: np.ndarray, degree: int, rng: np.random.Generator) -> dict[str, float | None]:
        """The fitted signal over its error: mean and error, from pseudo-samples of the masses; and chi2 over ndof.

        A pseudo-sample has a Poisson number of the selected jets, drawn with replacement. Its spectrum
        fluctuates around that of the test sample as that does around the truth, so the width over
        pseudo-samples is the error of the mean, however many of them there are. None where one has so few jets
        in a bin that there is no fit.
        """
        spectra = (rng.choice(mass, rng.poisson(len(mass))) for _ in range(PSEUDO))
        try:
            found = np.array([self.found(spectrum, degree).significance for spectrum in spectra])
        except RuntimeError:
            return {"value": None, "error": None, "chi2": None}
        whole = self.found(mass, degree)
        return {"value": float(found.mean()), "error": float(found.std(ddof=1)), "chi2": whole.chi2 / whole.ndof}

    def found(self, mass: np.ndarray, degree: int) -> Fitted:
        """Fits one spectrum; RuntimeError if it has too few jets."""
        return fitted(mass, BIAS_EDGES, degree, W_MASS, self.width)
