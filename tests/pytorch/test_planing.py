"""Planing against the spectra that it is to make."""

import pickle

import numpy as np
import pandas as pd
import pytest
import torch
from helpers.planing import histogram, in_two
from libmode.torch.baselines import Planing


def spectra(n=20_000, seed=0):
    """A falling background and a peaking signal."""
    rng = np.random.default_rng(seed)
    label = rng.integers(0, 2, n)
    mass = np.where(label == 1, rng.normal(0.4, 0.2, n), rng.exponential(0.5, n)).clip(0, 1.2)
    return torch.tensor(mass), torch.tensor(label)


def test_planed_background_has_the_spectrum_of_signal():
    mass, label = spectra()
    planing = Planing(mass, label, bins=20, floor=0)
    weight, background = planing.weight.double().numpy(), (label == 0).numpy()
    edges = [np.linspace(mass.min().item(), mass.max().item(), 21)]
    got = histogram(mass[background][:, None].numpy(), edges, weight[background])
    np.testing.assert_allclose(got, histogram(mass[~background][:, None].numpy(), edges), rtol=1e-5, atol=1e-6)
    assert (weight[~background] == 1).all() and planing.weight.dtype == torch.float32
    w = weight[background]
    assert planing.effective_size == pytest.approx(w.sum() ** 2 / (w**2).sum(), rel=1e-5)
    copied = pickle.loads(pickle.dumps(planing))
    torch.testing.assert_close(copied(mass[:50], label[:50]), planing.weight[:50])
    assert planing(torch.tensor([-5.0]), torch.tensor([0])) == planing(mass.min()[None], torch.tensor([0]))


@pytest.mark.parametrize("weighted", [False, True])
def test_cells_of_two_variables_are_alike_or_flat(weighted):
    mass, label = in_two()
    own = np.random.default_rng(1).choice([-0.5, 1, 2], len(label), p=[0.1, 0.5, 0.4]) if weighted else None
    edges = [np.linspace(500, 1000, 5), np.linspace(50, 150, 6)]
    times = np.ones(len(label)) if own is None else own
    background = label == 0
    like = Planing(mass, label, weight=own, bins=edges, floor=0)
    got = histogram(mass[background], edges, (like.weight * times)[background])
    np.testing.assert_allclose(got, histogram(mass[~background], edges, times[~background]), rtol=1e-5)
    flat = Planing(mass, label, weight=own, bins=edges, floor=0, target="flat")
    for of in (background, ~background):
        assert np.average(flat.weight[of], weights=times[of]) == pytest.approx(1, rel=1e-5)
        np.testing.assert_allclose(histogram(mass[of], edges, (flat.weight * times)[of]), 1 / 20, rtol=1e-5)


def test_the_floor_limits_the_weights():
    mass, label = spectra()
    label[(mass > 0.3) & (mass < 0.5) & (torch.rand(len(mass), generator=torch.manual_seed(0)) < 0.8)] = 1
    free, floored = (Planing(mass, label, bins=20, floor=floor) for floor in (0, 0.5))
    steep, less = (one.weight.max() / one.weight[label == 0].median() for one in (free, floored))
    assert less < steep and floored.effective_size > free.effective_size


BAD = [
    (r"mass\[7, 0\] = nan|mass\[7\] = nan", lambda m, y: Planing(m.where(torch.arange(len(m)) != 7, torch.nan), y)),
    ("no signal event", lambda m, y: Planing(m, 0 * y)),
    ("no background event .* background_label = 5", lambda m, y: Planing(m, y, background_label=5)),
    ("all masses are 0", lambda m, y: Planing(0 * m, y)),
    ("bins = 0", lambda m, y: Planing(m, y, bins=0)),
    ("floor = 2", lambda m, y: Planing(m, y, floor=2)),
    ("has signal but no background", lambda m, y: Planing(m.where(y == 1, -m.abs()), y, floor=0)),
    ("target = 'like': expected one of", lambda m, y: Planing(m, y, target="like")),
    ("bins belong to histograms", lambda m, y: Planing(m, y, bins=3, classifier=1)),
    ("has a negative sum", lambda m, y: Planing(m, y, bins=4, weight=torch.where(m < 0.2, -1.0, 1.0))),
]


@pytest.mark.parametrize("message, call", BAD, ids=[message for message, _ in BAD])
def test_bad_input(message, call):
    with pytest.raises((ValueError, TypeError), match=message):
        call(*spectra(200))


def test_useless_weights_are_warned_of():
    mass = torch.cat([torch.full((1000,), 0.9), torch.rand(1000) * 0.5, torch.tensor([0.9, 1.0])])
    label = (torch.arange(2002) < 1000).long()
    with pytest.warns(RuntimeWarning, match="planing leaves the 1002 background events the power of 1"):
        Planing(mass, label, floor=0)


def test_series_of_another_index_are_an_error():
    mass, label = in_two()
    planing = Planing(mass, label)
    with pytest.raises(ValueError, match="label and mass have different indexes"):
        planing(pd.DataFrame(mass), pd.Series(label)[::-1])
