"""The push of the core against its definition, by comparisons of all pairs in NumPy."""

import ctypes

import numpy as np
import pytest
from libmode import _native, mode_evaluate
from libmode._evaluate import direction
from libmode._events import Events
from libmode._options import check


def ranks(values, size):
    below = (values[None, :] < values[:, None]) @ size + 0.5 * (values[None, :] == values[:, None]) @ size
    return below / size.sum()


def functions(rank, count, cells):
    """The cosines in the middle of the cell of each rank; for NaN the function 1 alone is not 0."""
    k = np.arange(count)
    middle = (np.floor(rank * cells) + 0.5) / cells
    found = np.where(k == 0, 1.0, np.sqrt(2) * np.cos(np.pi * np.outer(middle, k)))
    return np.where(np.isnan(rank)[:, None], k == 0, found)


def definition(grad, score, mass, weight, factor):
    """Norm, residual and push by logits of one group of events that all take part."""
    weight = weight / np.abs(weight).mean()
    size = np.abs(weight)
    rank = ranks(score, size)
    scaled = grad / np.sqrt(rank * (1 - rank))
    parts = max(1, min(16, int(size.sum() ** 2 / (weight @ weight)) // 20))
    part = (rank * parts).astype(int)
    mean = np.array([(scaled * np.sign(weight))[part == k].sum() / size[part == k].sum() for k in range(parts)])
    scaled = scaled - weight * mean[part]
    norm = np.sqrt(scaled @ scaled)
    count, cells = {1: (12, 32), 2: (5, 8), 3: (3, 4)}[mass.shape[1]]
    of_mass = np.ones((len(score), 1))
    for column in mass.T:
        rank_of = np.full(len(column), np.nan)
        there = ~np.isnan(column)
        rank_of[there] = ranks(column[there], size[there])
        of_mass = (of_mass[:, :, None] * functions(rank_of, count, cells)[:, None, :]).reshape(len(score), -1)
    of_score = functions(rank, 12, 32)
    residual = np.sqrt(len(score)) / norm * (of_mass.T @ (scaled[:, None] * of_score)) / size.sum()
    return norm, residual, factor * weight * np.einsum("im,mk,ik->i", of_mass, residual, of_score)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("variables", [1, 2, 3])
@pytest.mark.parametrize("what", ["plain", "signed weights", "ties", "absent masses"])
def test_push_is_the_one_of_the_definition(dtype, variables, what):
    rng = np.random.default_rng(variables)
    n = 900
    mass = rng.exponential(60, (n, variables)).astype(dtype)
    score = (1 / (1 + np.exp(-rng.normal(0, 1, n) - mass[:, 0] / 100))).astype(dtype)
    weight = np.ones(n, dtype)
    if what == "signed weights":
        weight = (rng.exponential(1, n) + 0.2).astype(dtype)
        weight[rng.random(n) < 0.05] *= -0.3
    if what == "ties":
        score, mass = np.round(score, 2), np.round(mass, -1)
    options = {"order": 1, "bins": 8, "missing": "ignore"}
    if what == "absent masses" and variables > 1:
        mass[rng.random((n, variables)) < 0.1] = np.nan
        mass[np.isnan(mass).all(axis=1), 0] = 50
    given = mass[:, 0] if variables == 1 else mass
    steering = _native.ModeSteering(ctypes.sizeof(_native.ModeSteering), rate=1, factor=4, logits=1)
    found, push, residual = direction(check("mode", options), steering, Events(score, given, weight))
    grad = mode_evaluate(score, given, weight=weight, **options).grad
    norm, of_definition, want = definition(grad.astype(float), score, mass, weight.astype(float), 4)
    assert found.moved == n
    assert found.norm == pytest.approx(norm, rel=1e-10)
    scale = np.abs(of_definition).max()
    np.testing.assert_allclose(residual.reshape(of_definition.shape), of_definition, atol=1e-10 * scale)
    np.testing.assert_allclose(push, want, atol=(1e-10 if dtype == np.float64 else 1e-6) * np.abs(want).max())
