"""The closure of the ABCD method against counting, and what its numbers mean."""

import numpy as np
import pytest
from libmode import metrics


def test_against_counting():
    rng = np.random.default_rng(1)
    n = 5_000
    label = rng.random(n) < 0.1
    first = np.round(rng.normal(size=n) + label, 1)  # with ties
    second = 0.5 * first + rng.normal(size=n)
    weight = rng.gamma(2, size=n) * np.where(rng.random(n) < 0.1, -1, 1)
    found = metrics.closure(first, label, second, weight=weight, fractions=[0.2, 0.04])
    background = ~label
    total = weight[background].sum()
    for i in range(2):
        for j in range(2):
            up, right = first >= found.threshold[i], second >= found.second_threshold[j]
            regions = [up & right, up & ~right, ~up & right, ~up & ~right]
            a, b, c, d = (weight[background & region].sum() for region in regions)
            squares = [(weight[background & region] ** 2).sum() for region in regions]
            assert found.seen[i, j] == pytest.approx(a)
            assert found.predicted[i, j] == pytest.approx(b * c / d)
            relative = sum(s / r**2 for s, r in zip(squares, (a, b, c, d), strict=True)) ** 0.5
            assert found.error[i, j] == pytest.approx(b * c / d / a * relative)
            u, v = (a + b) / total, (a + c) / total
            variance = u * (1 - u) * v * (1 - v) * (weight[background] ** 2).sum() / total**2
            assert found.significance[i, j] == pytest.approx((u * v - a / total) / variance**0.5)
            signal = [weight[label & region].sum() for region in regions]
            assert found.contamination[:, i, j] == pytest.approx(np.array(signal) / (a, b, c, d))
    assert abs(found.worst.significance) == np.max(np.abs(found.significance)) > 10
    for cut, kept in zip(found.threshold, np.sqrt([0.2, 0.04]), strict=True):
        assert weight[background & (first >= cut)].sum() >= kept * total * (1 - 1e-12)
        above = np.min(first[first > cut])
        assert weight[background & (first >= above)].sum() < kept * total


def test_regions_without_events():
    """Of scores that order events alike B and C are empty; nothing is divided by 0 aloud."""
    score = np.arange(100.0)
    found = metrics.closure(score, np.zeros(100), score, fractions=[0.25, 0.01])
    assert found.predicted[0, 0] == 0
    assert found.ratio[0, 0] == 0
    assert found.seen[0, 0] == 50 and found.contamination is None
    opposite = metrics.closure(score, np.zeros(100), -score, fractions=[0.01])
    assert np.isnan(opposite.ratio[0, 0])
    assert opposite.significance[0, 0] > 0
