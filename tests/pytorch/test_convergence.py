"""A constraint says by itself, once, whether the response has become flat: at eval(), or when it ends."""

import copy
import gc
import pickle
import subprocess
import sys
import warnings
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import torch
from libmode import TrainingWarning, _convergence
from libmode._convergence import EFFICIENCY, Sample, convergence
from libmode._monitor import EVERY, PATIENCE
from libmode.torch import Events, MoDeConstraint, Reference
from torch.nn.functional import binary_cross_entropy_with_logits, cross_entropy

BATCHES = 60


def batch(rng, bend=0.0, n=1000):
    """Logits, label and mass of events whose logits are as at the end of a training; background bends by so much."""
    label, mass = torch.tensor(rng.integers(0, 2, n)).float(), torch.tensor(rng.random(n))
    logit = torch.tensor(rng.normal(size=n)) + label + bend * torch.sin(6 * mass) * (1 - label)
    return logit, label, mass


def step(layer, logit, label, mass, **more):
    logit = logit.clone().requires_grad_()
    binary_cross_entropy_with_logits(layer(logit, label, mass, **more), label.double()).backward()


def trained(bend=0.0, seed=1, batches=BATCHES, n=1000, **options):
    rng, layer = np.random.default_rng(seed), MoDeConstraint(from_logits=True, order=1, **options)
    for _ in range(batches):
        step(layer, *batch(rng, bend, n))
    return layer


def said(action):
    """What an action warns of."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        action()
    assert all(one.category is TrainingWarning for one in caught)
    return [str(one.message) for one in caught]


def test_a_response_that_is_not_flat_is_said_once():
    layer = trained(0.3)
    with pytest.warns(TrainingWarning, match="the response to background has not become flat: after 60 ") as caught:
        layer.eval()
    assert caught[0].filename == __file__
    sentence = str(caught[0].message)
    assert "Cuts that are not flat have background efficiencies of 0.5" in sentence
    assert "The logits of background reach from -" in sentence and sentence.endswith(
        "(monitor=False turns such warnings off.)"
    )
    assert said(lambda: (layer.train(), layer.eval())) == []
    assert said(trained(0.3, monitor=False).eval) == []
    assert said(trained(0.3, batches=EVERY - 1).eval) == []  # a few calls are no training


def test_of_flat_trainings_at_most_one_in_twenty_warns():
    assert sum(bool(said(trained(seed=seed).eval)) for seed in range(60)) <= 60 // 20


@pytest.mark.parametrize("bend, turns", [(0.1, 1000), (0.17, 100), (0.0, 1000)])
def test_what_lasts_and_what_swings_are_both_seen(bend, turns):
    """The first is below three errors of the last 25,600 events, and the second cancels over ten times as many."""
    rng, layer = np.random.default_rng(1), MoDeConstraint(from_logits=True, order=1)
    for k in range(1000):
        step(layer, *batch(rng, bend * (-1) ** (k // turns)))
    assert layer.convergence.flat is (bend == 0)
    assert len(said(layer.eval)) == (bend > 0)


@pytest.mark.parametrize("batches", [60, 700])
def test_a_residual_at_rho_1_is_rarely_significant(batches):
    """The coefficients of 2,000 trainings that have it, with the noise of batches."""
    rng, freedom, scale = np.random.default_rng(1), 22, 200.0
    true = rng.normal(size=(freedom, 2000))
    true /= np.linalg.norm(true, axis=0) * np.sqrt(scale)
    recent, mean = np.zeros((2, *true.shape))
    for k in range(1, batches + 1):
        of_batch = true + rng.normal(size=true.shape) / np.sqrt(freedom)
        recent += max(1 / 50, 1 / k) * (of_batch - recent)
        mean += max(1 / 500, 1 / k) * (of_batch - mean)
    more = {"batches": batches, "noise": np.ones(2000), "scale": scale, "taught": 0.0, "freedom": freedom}
    for other in ((recent, 1 / 50), (mean, 1 / 500)):
        rho, error, significance = _convergence._judged((recent, 1 / 50), other, **more)
        assert rho.mean() == pytest.approx(1, abs=0.05)
        assert significance.std() == pytest.approx(1, abs=0.1) and (significance > 3).mean() < 0.01
        assert rho.std() == pytest.approx(error.mean(), rel=0.15)


@pytest.mark.parametrize("weighted", [False, True])
def test_batches_of_the_same_events_have_the_same_noise(weighted):
    """A training with all events in one batch makes the residual of these events 0, and nobody knows its noise."""
    rng, layer = np.random.default_rng(1), MoDeConstraint(from_logits=True, order=1)
    logit, label, mass = batch(rng)
    weight = torch.tensor(rng.uniform(0.5, 2, 1000)) if weighted else None
    for _ in range(BATCHES):
        step(layer, logit + 0.1 * torch.tensor(rng.normal(size=1000)), label, mass, weight=weight)
    found = layer.convergence
    assert found.events == (label == 0).sum() and found.flat is True
    assert said(layer.eval) == []


@pytest.mark.parametrize("shuffled", [True, False])
def test_the_size_of_the_training_sample_is_found(shuffled):
    """What it can teach depends on it."""
    rng, layer, n = np.random.default_rng(1), MoDeConstraint(from_logits=True, order=1), 20_000
    logit, label, mass = batch(rng, n=n)
    for _ in range(10):
        order = torch.tensor(rng.permutation(n) if shuffled else np.arange(n))
        for chosen in order.split(1000):
            step(layer, logit[chosen], label[chosen], mass[chosen])
    assert layer.convergence.events == pytest.approx(float((label == 0).sum()))
    said(layer.eval)


@pytest.mark.parametrize("n, batches", [(256, 400), (10_000, 25)])
def test_batches_of_any_size_are_judged(n, batches):
    assert said(trained(n=n, batches=batches).eval) == []
    assert len(said(trained(0.3, n=n, batches=batches).eval)) == 1


def bent(rng, n):
    """Logits and masses of background."""
    mass = rng.random(n)
    return rng.normal(size=n) + 0.2 * np.sin(6 * mass), mass


@pytest.mark.parametrize("what", ["plain", "weights", "reference", "two masses"])
def test_rho_is_the_one_of_its_definition(what):
    rng = np.random.default_rng(2)
    bins, order, cuts = 24, 1, EFFICIENCY[:8]
    freedom = 2 * (5 - 2) if what == "two masses" else 24 - 2  # cosines that no line follows
    logit, mass = bent(rng, 2_000_000)
    place, x = (mass * bins).astype(int), (np.arange(bins) + 0.5) / bins
    want = []
    for e in cuts:
        f = np.bincount(place, logit >= np.quantile(logit, 1 - e)) / np.bincount(place)
        r = f - np.polynomial.Polynomial.fit(x, f, order)(x)
        want.append((r**2).mean() / freedom * 100_000 / (e * (1 - e)))
    layer = MoDeConstraint(from_logits=True, order=order)
    for _ in range(200):
        logit, mass = (torch.tensor(one) for one in bent(rng, 1000))
        own, weight, reference = slice(None), None, None
        if what == "weights":
            weight = torch.tensor(rng.uniform(0.8, 1.2, 1000))
        if what == "reference":
            own, reference = slice(500), Events(logit[500:], None, mass[500:])
        if what == "two masses":
            mass = torch.stack([mass, torch.tensor(rng.random(1000))], 1)
        step(layer, logit[own], torch.zeros(1000)[own], mass[own], weight=weight, reference=reference)
    found = layer.convergence
    assert found.batches == 200 and found.flat is False and found.excess[:8].all()
    pulls = (found.rho[:8] - want) / found.error[:8]
    assert np.abs(pulls).max() < 3.5, (found.rho[:8], want, found.error[:8])
    assert np.all(found.error[:8] < 0.4 * found.rho[:8])
    said(layer.eval)


def test_nothing_is_known_without_batches():
    layer = MoDeConstraint(order=1)
    assert layer.convergence.flat is None and "is not known" in str(layer.convergence)
    assert said(layer.eval) == []


def test_a_fixed_strength_says_it_too():
    layer = trained(0.3, strength=3)
    assert layer.convergence.flat is False
    assert len(said(layer.eval)) == 1


def test_a_verdict_for_each_label():
    layer = MoDeConstraint(from_logits=True, background_label=(0, 2), order=1)
    rng = np.random.default_rng(1)
    for _ in range(BATCHES):
        flat, of_bent = batch(rng), batch(rng, 0.4)
        label = torch.where(of_bent[1] == 0, 2.0, 1.0)
        both = [
            torch.cat(pair) for pair in zip((flat[0], flat[1], flat[2]), (of_bent[0], label, of_bent[2]), strict=True)
        ]
        logit = both[0].clone().requires_grad_()
        target = (both[1] == 1).double()
        binary_cross_entropy_with_logits(layer(logit, *both[1:]), target).backward()
    state, sample = layer.state.numpy(), Sample(500, 500)
    for samples, is_flat in (([sample], True), ([sample, sample], False)):
        assert convergence(state, samples, order=1, tolerance=1e5).flat is is_flat
    assert len(said(layer.eval)) == 1


# ------------------------------------------------------------- when it is said


def test_a_validation_between_epochs_is_not_the_end():
    rng, layer = np.random.default_rng(1), MoDeConstraint(from_logits=True, order=1)

    def train():
        for _ in range(2):
            layer.train()
            for _ in range(EVERY):
                step(layer, *batch(rng, 0.3))
            layer.eval()

    assert said(train) == []
    layer.train()
    assert len(said(layer.eval)) == 1


def test_a_loop_over_trainings_is_not_one_over_epochs():
    for seed in (1, 2):
        assert len(said(trained(0.3, seed).eval)) == 1
        layer, rng = MoDeConstraint(from_logits=True, order=1), np.random.default_rng(seed)
        for _ in range(EVERY):
            step(layer, *batch(rng, 1.0))
        assert len(said(layer.eval)) == 1


def test_a_training_that_goes_on_gets_its_own_answer():
    """As one of the next fold, with the layer of the fold before."""
    layer, rng = trained(0.3), np.random.default_rng(2)
    assert len(said(layer.eval)) == 1

    def train():
        layer.train()
        for _ in range(BATCHES):
            step(layer, *batch(rng, 0.3))

    train()
    assert len(said(layer.eval)) == 1
    assert said(lambda: (layer.train(), layer.eval())) == []


@pytest.mark.parametrize("separation, referring, times", [(8.0, False, 1), (8.0, True, 0), (1.0, False, 0)])
def test_a_cut_that_batches_do_not_reach_is_said(separation, referring, times):
    """Of signal with the largest separation half passes a cut that 1 of 2,000 background events passes."""
    rng, layer = np.random.default_rng(1), MoDeConstraint(from_logits=True, order=1)

    def one(n):
        logit, label, mass = batch(rng, n=n)
        background = torch.tensor(rng.exponential(size=n))
        return torch.where(label == 0, background, separation + 0.1 * logit), label, mass

    for _ in range(300):
        logit, label, mass = one(3000)
        of_reference = label == 0
        more = {"reference": Events(logit[of_reference], None, mass[of_reference])} if referring else {}
        step(layer, *one(200), **more)
    found = said(layer.eval)
    assert [text.startswith("batches do not reach a cut that keeps half of the signal: 0.0") for text in found] == [
        True
    ] * times


def test_reference_events_do_not_end_a_training():
    """They are scored in evaluation mode, at each step."""
    rng, layer = np.random.default_rng(1), MoDeConstraint(from_logits=True, order=1)

    class Network(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.constraint = layer

        def forward(self, x):
            return x

    torch.manual_seed(1)  # of the reference events
    network = Network()
    logit, label, mass = batch(rng, 1.5)
    reference = Reference((logit, label, mass), 500)
    for _ in range(2 * EVERY):
        step(layer, *batch(rng, 1.5), reference=reference(network))
    assert network.training and layer.training
    assert len(said(network.eval)) == 1


def test_a_layer_that_nobody_evaluates_says_it_in_the_end(capsys):
    gc.collect()  # of what other tests left
    layers = [trained(0.3)]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        layers.clear()
        gc.collect()
    assert len(caught) == 1 and "has not become flat" in str(caught[0].message)
    assert caught[0].filename == __file__  # at the line that called the layer, and not in weakref.py
    layers.append(trained(0.3))
    layers.clear()  # where warnings are errors
    gc.collect()
    assert "libmode.TrainingWarning: the response to background has not" in capsys.readouterr().err
    said(lambda: (trained(), gc.collect()))
    assert capsys.readouterr().err == ""


PROGRAM = """
import sys
sys.path.insert(0, {path!r})
from test_convergence import trained
layer = trained({bend})
"""


@pytest.mark.parametrize("bend, times", [(0.3, 1), (0.0, 0)])
def test_the_end_of_the_process_is_the_end(bend, times):
    program = PROGRAM.format(path=str(Path(__file__).parent), bend=bend)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0 and done.stderr.count("TrainingWarning: the response to background has not") == times


def test_copies_say_it_of_their_own_training():
    layer = trained(0.3)
    copied, loaded = copy.deepcopy(layer), pickle.loads(pickle.dumps(layer))
    said(layer.eval)
    for other in (copied, loaded):
        assert len(said(other.eval)) == 1


# ------------------------------------------------------------- what evaluation does


def evaluated(layer, bend, batches=20, seed=5):
    rng = np.random.default_rng(seed)
    for _ in range(batches):
        logit, label, mass = batch(rng, bend)
        assert layer(logit, label, mass) is logit


def test_what_is_flat_in_training_alone_is_said():
    layer = trained()
    layer.eval()
    assert said(lambda: evaluated(layer, 0.0)) == []
    layer.train()
    layer.eval()
    (sentence,) = said(lambda: evaluated(layer, 0.5))
    assert sentence.startswith("the response to background is flat in training mode and not in evaluation mode: at a ")
    assert said(lambda: evaluated(layer, 0.5)) == []


def test_of_flat_evaluations_nothing_is_said():
    assert sum(bool(said(lambda s=seed: of_both(s))) for seed in range(40)) <= 40 // 20


def of_both(seed):
    layer = trained(seed=seed)
    layer.eval()
    evaluated(layer, 0.0, seed=1000 + seed)


def test_one_batch_of_an_evaluation_is_enough():
    layer, rng = trained(), np.random.default_rng(3)
    layer.eval()
    logit, label, mass = batch(rng, 0.5, 20_000)
    assert len(said(lambda: layer(logit, label, mass))) == 1


def test_evaluations_in_the_loop_of_epochs_count_in_the_end():
    """The last one does: the network of the others was another."""
    for bends, times in (((0.5, 0.0), 0), ((0.0, 0.5), 1)):
        rng, layer = np.random.default_rng(1), MoDeConstraint(from_logits=True, order=1)
        for bend in bends:
            layer.train()
            for _ in range(BATCHES):
                step(layer, *batch(rng))
            layer.eval()
            assert said(partial(evaluated, layer, bend)) == []
        assert len(said(layer._statement.say)) == times


def test_an_evaluation_takes_anything():
    layer = trained()
    layer.eval()
    logit, label, mass = batch(np.random.default_rng(1))
    for others in ((None, None), (label, mass[:5]), (label + 1, mass), (label, "mass")):
        assert layer(logit, *others) is logit
    assert layer(logit * torch.nan, label, mass).isnan().all()


def network_with(dropout):
    torch.manual_seed(1)
    return torch.nn.Sequential(torch.nn.Linear(1, 8), torch.nn.ReLU(), torch.nn.Dropout(dropout), torch.nn.Linear(8, 1))


@pytest.mark.parametrize("dropout, measured, times", [(0.3, False, 1), (0.3, True, 0), (0.0, False, 0)])
def test_dropout_that_nobody_has_measured_without_is_said(dropout, measured, times):
    network, layer, rng = network_with(dropout), MoDeConstraint(from_logits=True, order=1), np.random.default_rng(1)

    def epoch():
        for _ in range(BATCHES):
            logit, label, mass = batch(rng)
            out = layer(network(logit[:, None].float())[:, 0], label, mass)
            binary_cross_entropy_with_logits(out, label).backward()

    epoch()
    if measured:
        network.eval()
        layer.training = False  # as a validation between epochs
        logit, label, mass = batch(rng, 0.0, 20_000)
        layer(network(logit[:, None].float())[:, 0].detach(), label, mass)
        layer.training = True
    found = said(layer.eval)
    assert [one.startswith("the response to background is flat with dropout, and ") for one in found] == [True] * times


# ------------------------------------------------------------- logits


def test_logits_that_run_away_are_said():
    layer, rng = MoDeConstraint(from_logits=True, order=1), np.random.default_rng(1)

    def train(scale):
        for _ in range(EVERY * PATIENCE):
            logit, label, mass = batch(rng)
            step(layer, scale * logit, label, mass)

    assert said(lambda: train(10)) == []
    (sentence,) = said(lambda: train(4000))
    assert sentence.startswith("the logits of background in a batch reach from -")


LOSSES = {  # of both logits, the constrained one and the label: what is said
    "cross entropy": (lambda z, z1, y: cross_entropy(torch.stack([z[:, 0], z1], 1), y.long()), True),
    "binary cross entropy": (lambda z, z1, y: binary_cross_entropy_with_logits(z1, y.double()), False),
    "with weights": (lambda z, z1, y: binary_cross_entropy_with_logits(z1, y.double(), weight=WEIGHT), False),
    "scaled": (lambda z, z1, y: 2**10 * binary_cross_entropy_with_logits(z1, y.double(), reduction="sum"), False),
}
WEIGHT = torch.rand(1000, dtype=torch.float64)


@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("difference", [False, True])
def test_one_logit_of_a_softmax_is_told_to_be_no_score(name, difference):
    loss, says = LOSSES[name]
    rng, layer = np.random.default_rng(1), MoDeConstraint(from_logits=True, order=1)

    def train():
        for _ in range(EVERY * PATIENCE):
            logit, label, mass = batch(rng)
            z = torch.stack([-0.5 * logit * torch.tensor(rng.random(1000)), logit], 1).requires_grad_()
            if difference:
                odds = layer(z[:, 1] - z[:, 0], label, mass, WEIGHT)
                loss(torch.zeros(1000, 2), odds, label).backward()
            else:
                loss(z, layer(z[:, 1], label, mass, WEIGHT), label).backward()

    found = said(train)
    assert [one.startswith("one of several logits is constrained") for one in found] == [True] * (
        says and not difference
    )
    assert all("lower the strength" not in one for one in found)


def test_the_gradient_of_another_batch_is_not_compared():
    """The look at one batch is followed by the backward pass of a batch before."""
    rng, layer = np.random.default_rng(1), MoDeConstraint(from_logits=True, order=1)
    waiting = None
    for k in range(2 * EVERY):
        logit, label, mass = batch(rng, n=900 + 10 * k)
        z = torch.stack([logit, logit], 1).requires_grad_()
        loss = binary_cross_entropy_with_logits(layer(z[:, 1], label, mass), label.double())
        if waiting is not None:
            waiting.backward()
        waiting = loss


def test_categories_that_cancel_are_said():
    """The response is flat in both categories together, and in none of them."""
    rng, layer = np.random.default_rng(1), MoDeConstraint(from_logits=True, order=0, categories=2)
    for _ in range(BATCHES):
        logit, label, mass = batch(rng)
        category = torch.tensor(rng.integers(0, 2, len(mass)))
        step(layer, logit + (mass - 0.5) * (2 * category - 1) * (1 - label), label, mass, category=category)
    assert layer.convergence.flat is False and layer.convergence.category in (0, 1)
    (sentence,) = said(layer.eval)
    assert "has not become flat" in sentence and f"in category {layer.convergence.category}" in sentence


def test_a_category_that_is_not_flat_is_named():
    rng, layer = np.random.default_rng(1), MoDeConstraint(from_logits=True, order=0, categories=2)
    for _ in range(BATCHES):
        flat, bent = batch(rng), batch(rng, 0.4)
        both = (torch.cat(pair) for pair in zip(flat, bent, strict=True))
        step(layer, *both, category=torch.tensor([0] * len(flat[0]) + [1] * len(bent[0])))
    assert layer.convergence.flat is False and layer.convergence.category == 1
    (sentence,) = said(layer.eval)
    assert "in category 1" in sentence


def test_categories_that_are_flat_say_nothing():
    for seed in range(5):
        rng, layer = np.random.default_rng(seed), MoDeConstraint(from_logits=True, order=0, categories=2)
        for _ in range(BATCHES):
            logit, label, mass = batch(rng)
            step(layer, logit, label, mass, category=torch.tensor(rng.integers(0, 2, len(mass))))
        assert said(layer.eval) == []


def test_a_category_of_few_events_is_named():
    rng, layer = np.random.default_rng(1), MoDeConstraint(from_logits=True, order=0, categories=2)
    for k in range(BATCHES):
        logit, label, mass = batch(rng)
        category = torch.zeros(len(mass), dtype=torch.int64)
        category[label == 0] = (torch.arange(int((label == 0).sum())) < (9 if k % 4 == 0 else 1)).long()
        step(layer, logit, label, mass, category=category)
    (sentence,) = said(layer.eval)
    assert f"{BATCHES // 4} of {BATCHES} batches had events enough of category 1 of background label 0" in sentence
