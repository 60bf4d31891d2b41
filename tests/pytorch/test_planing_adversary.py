"""Planing and the adversary, each against its definition written another way."""

import numpy as np
import pytest
import torch
from libmode.torch.baselines import AdversaryLoss, planing
from torch.distributions import Categorical, MixtureSameFamily, Normal


def spectra(n=20_000, seed=0):
    """A falling background and a peaking signal."""
    rng = np.random.default_rng(seed)
    label = rng.integers(0, 2, n)
    mass = np.where(label == 1, rng.normal(0.4, 0.2, n), rng.exponential(0.5, n)).clip(0, 1.2)
    return torch.tensor(mass), torch.tensor(label)


# --------------------------------------------------------------- planing


def test_planed_background_has_the_spectrum_of_signal():
    mass, label = spectra()
    weight, effective = planing(mass, label, bins=20, floor=0)
    background = label == 0
    signal_mass, background_mass = mass[~background].numpy(), mass[background].numpy()
    edges = np.linspace(mass.min().item(), mass.max().item(), 21)
    want, _ = np.histogram(signal_mass, edges, density=True)
    got, _ = np.histogram(background_mass, edges, density=True, weights=weight[background].double().numpy())
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)
    assert (weight[~background] == 1).all()
    np.testing.assert_allclose(weight[background].mean(), 1, rtol=1e-5)
    w = weight[background].double()
    np.testing.assert_allclose(effective, w.sum() ** 2 / (w**2).sum(), rtol=1e-5)


def test_the_floor_limits_the_weights():
    mass, label = spectra()
    label[(mass > 0.3) & (mass < 0.5) & (torch.rand(len(mass), generator=torch.manual_seed(0)) < 0.8)] = 1
    (free, few), (floored, more) = (planing(mass, label, bins=20, floor=floor) for floor in (0, 0.5))
    assert floored.max() / floored[label == 0].median() < free.max() / free[label == 0].median()
    assert more > few


def test_flat_spectra_need_no_weights():
    mass = torch.arange(1000.0).repeat(2)
    weight, effective = planing(mass, torch.arange(2).repeat_interleave(1000), bins=10)
    torch.testing.assert_close(weight, torch.ones(2000))
    assert effective == pytest.approx(1000)


BAD_PLANING = {
    "not finite": (lambda m, y: planing(m.where(torch.arange(len(m)) != 7, torch.nan), y), r"mass\[7\] = nan"),
    "one class": (lambda m, y: planing(m, 0 * y), "no signal event"),
    "no background": (lambda m, y: planing(m, y, background_label=5), "no background event .* background_label = 5"),
    "one mass": (lambda m, y: planing(0 * m, y), "all masses are 0"),
    "bins": (lambda m, y: planing(m, y, bins=0), "bins = 0"),
    "floor": (lambda m, y: planing(m, y, floor=2), "floor = 2"),
    "shape": (lambda m, y: planing(m, y[1:]), "label has length 199, but mass has length 200"),
    "hole": (lambda m, y: planing(m.where(y == 1, -m.abs()), y, floor=0), "has signal but no background"),
}


@pytest.mark.parametrize("name", BAD_PLANING)
def test_bad_input_of_planing(name):
    call, message = BAD_PLANING[name]
    with pytest.raises(ValueError, match=message):
        call(*spectra(200))


def test_useless_weights_are_warned_of():
    mass = torch.cat([torch.full((1000,), 0.9), torch.rand(1000) * 0.5, torch.tensor([0.9, 1.0])])
    label = (torch.arange(2002) < 1000).long()
    with pytest.warns(RuntimeWarning, match="planing leaves the 1002 background events the power of 1"):
        planing(mass, label, floor=0)


# -------------------------------------------------------------- adversary


def test_the_adversary_is_a_mixture_of_gaussians():
    torch.manual_seed(0)
    loss = AdversaryLoss(components=5, hidden=7)
    assert [tuple(p.shape) for p in loss.parameters()] == [(7, 1), (7,), (15, 7), (15,)]
    score, mass, target = torch.rand(50), torch.rand(50), torch.arange(50) % 2
    share, centre, width = loss.network(score[:, None]).chunk(3, dim=1)
    mixture = MixtureSameFamily(Categorical(logits=share), Normal(centre, torch.nn.functional.softplus(width) + 1e-3))
    surprise = -mixture.log_prob(mass)
    torch.testing.assert_close(loss(score, target, mass), surprise[target == 0].mean())
    weight = torch.rand(50)
    torch.testing.assert_close(
        loss(score, target, mass, weight), (weight * surprise)[target == 0].sum() / weight[target == 0].sum()
    )
    everything = AdversaryLoss(components=5, hidden=7, background_only=False)
    everything.load_state_dict(loss.state_dict())
    torch.testing.assert_close(everything(score, target, mass), surprise.mean())


def test_the_paper_has_60_outputs():
    assert AdversaryLoss().network[2].out_features == 60


def test_the_gradient_of_the_score_is_reversed_and_that_of_the_parameters_is_not():
    torch.manual_seed(0)
    loss = AdversaryLoss()
    score, mass, target = torch.rand(50, requires_grad=True), torch.rand(50), torch.zeros(50)
    value = loss(score, target, mass)
    value.backward()
    direct = torch.autograd.grad(-loss.log_density(score, mass).mean(), [score, *loss.parameters()])
    torch.testing.assert_close(score.grad, -direct[0])
    for parameter, want in zip(loss.parameters(), direct[1:], strict=True):
        torch.testing.assert_close(parameter.grad, want)


def test_the_mass_range_is_a_change_of_units():
    torch.manual_seed(0)
    plain, in_gev = AdversaryLoss(), AdversaryLoss(mass_range=(50, 300))
    in_gev.load_state_dict(plain.state_dict())
    score, x, target = torch.rand(50), 2 * torch.rand(50) - 1, torch.zeros(50)
    torch.testing.assert_close(in_gev(score, target, 175 + 125 * x), plain(score, target, x))


def test_it_learns_what_the_score_tells_of_the_mass():
    torch.manual_seed(0)
    mass = 2 * torch.rand(2000) - 1
    best = {}
    for name, score in {"copy": (mass + 1) / 2, "independent": torch.rand(2000)}.items():
        adversary = AdversaryLoss()
        optimiser = torch.optim.Adam(adversary.parameters(), 3e-3)
        losses = []
        for _ in range(300):
            optimiser.zero_grad()
            loss = adversary(score, torch.zeros(2000), mass)
            loss.backward()
            optimiser.step()
            losses.append(loss.item())
        best[name] = min(losses)  # narrow Gaussians make single steps jump
    assert best["copy"] < -1
    assert abs(best["independent"] - np.log(2)) < 0.1  # that of a flat spectrum on [-1, 1]


BAD_ADVERSARY = {
    "shape": (lambda loss, s, y, m: loss(s, y, m[1:]), "mass has length 49, but score has length 50"),
    "no background": (lambda loss, s, y, m: loss(s, y + 1, m), "label equals background_label = 0; label holds 1"),
    "not finite": (lambda loss, s, y, m: loss(s, y, m / 0), r"mass\[0\] = inf"),
    "weights": (lambda loss, s, y, m: loss(s, y, m, -m), "weight of the selected events sums to -"),
    "components": (lambda *_: AdversaryLoss(components=0), "components = 0"),
    "range": (lambda *_: AdversaryLoss(mass_range=(1, 1)), r"mass_range = \(1, 1\)"),
}


@pytest.mark.parametrize("name", BAD_ADVERSARY)
def test_bad_input_of_the_adversary(name):
    call, message = BAD_ADVERSARY[name]
    with pytest.raises(ValueError, match=message):
        call(AdversaryLoss(), torch.rand(50), torch.zeros(50), torch.rand(50) + 0.1)


def test_events_of_other_labels_are_not_looked_at():
    score, mass, target = torch.rand(10), torch.rand(10), torch.arange(10) % 2
    assert AdversaryLoss()(score, target, mass.where(target == 0, torch.nan)).isfinite()
