"""A constraint says by itself, once, whether the response has become flat: at eval(), or when it ends."""

import gc
import subprocess
import sys
import warnings
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import torch
from libmode import TrainingWarning
from libmode._problems import EVERY, FEWEST_BATCHES
from libmode.torch import Events, MoDeConstraint
from torch.nn.functional import binary_cross_entropy_with_logits

BATCHES = 60
EVENTS = 15_000  # of background, half of those in the batches: two epochs


def batch(rng, bend=0.0, n=1000):
    """Logits, label and mass of events whose logits are as at the end of a training; background bends by so much."""
    label, mass = torch.tensor(rng.integers(0, 2, n)).float(), torch.tensor(rng.random(n))
    logit = torch.tensor(rng.normal(size=n)) + label + bend * torch.sin(6 * mass) * (1 - label)
    return logit, label, mass


def step(layer, logit, label, mass, **more):
    logit = logit.clone().requires_grad_()
    binary_cross_entropy_with_logits(layer(logit, label, mass, **more), label.double()).backward()


def trained(bend=0.0, seed=1, batches=BATCHES, n=1000, **options):
    options = {"training_events": EVENTS, "order": 1, **options}
    rng, layer = np.random.default_rng(seed), MoDeConstraint(from_logits=True, **options)
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
    layer = trained(0.5)
    with pytest.warns(
        TrainingWarning, match="the response to background is not flat: after 60 batches with "
    ) as caught:
        layer.eval()
    assert caught[0].filename == __file__
    sentence = str(caught[0].message)
    assert "a search with 15,000 background events would find " in sentence and "errors of signal" in sentence
    assert sentence.endswith(
        "Other events settle it: libmode.metrics.check(score, label, mass, order=1). (monitor=False turns such warnings off.)"
    )
    assert said(lambda: (layer.train(), layer.eval())) == []
    assert said(trained(0.5, monitor=False).eval) == []
    assert said(trained(0.5, batches=EVERY - 1).eval) == []  # a few calls are no training


@pytest.mark.parametrize("bend, turns", [(0.2, 1000), (0.4, 100), (0.0, 1000)])
def test_what_lasts_and_what_swings_are_both_seen(bend, turns):
    """The second cancels over 256,000 events."""
    rng, layer = np.random.default_rng(1), MoDeConstraint(from_logits=True, order=1, training_events=100_000)
    for k in range(600):
        step(layer, *batch(rng, bend * (-1) ** (k // turns)))
    assert layer.convergence.flat is (bend == 0)
    assert len(said(layer.eval)) == (bend > 0)


def test_a_batch_with_more_events_than_the_training_is_an_error():
    layer = MoDeConstraint(from_logits=True, order=1, training_events=300)
    with pytest.raises(
        ValueError, match=r"training_events = 300: this batch has \d+ background events, .*training step 0"
    ):
        step(layer, *batch(np.random.default_rng(1)))
    assert not layer.state.any()


@pytest.mark.parametrize("divided", ["labels", "categories"])
def test_the_least_flat_part_is_judged(divided):
    options = {"background_label": (0, 2)} if divided == "labels" else {"categories": 2}
    layer, rng = (
        MoDeConstraint(from_logits=True, order=1, training_events=2 * EVENTS, **options),
        np.random.default_rng(1),
    )
    for _ in range(BATCHES):
        flat, bent = batch(rng), batch(rng, 0.6)
        logit, label, mass = (torch.cat(pair) for pair in zip(flat, bent, strict=True))
        second = torch.arange(2000) >= 1000
        more = {"category": second.int()} if divided == "categories" else {}
        named = torch.where(second & (label == 0), 2.0, label) if divided == "labels" else label
        leaf = logit.clone().requires_grad_()
        binary_cross_entropy_with_logits(layer(leaf, named, mass, **more), label.double()).backward()
    found = layer.convergence
    assert found.flat is False
    assert (found.label, found.category) == ((1, None) if divided == "labels" else (0, 1))
    (sentence,) = said(layer.eval)
    assert ("in category 1 " in sentence) == (divided == "categories")


def test_a_new_maximum_of_the_selected_spectrum_is_said():
    """An efficiency in proportion to m, which is flat at order 1, turns a falling spectrum into a bump: m exp(-m)."""
    rng, layer = np.random.default_rng(1), MoDeConstraint(from_logits=True, strength=1, order=1)
    for _ in range(FEWEST_BATCHES):
        mass = rng.exponential(size=2000)
        mass = mass[mass < 5]
        logit = np.where(rng.random(len(mass)) < mass / 5, 1, -1) + rng.random(len(mass))
        step(layer, torch.tensor(logit), torch.zeros(len(mass)), torch.tensor(mass))
    found = layer.convergence
    assert found.flat and found.zero[0] < 0.1 and found.peak[0] == pytest.approx(1, abs=0.3)
    zero, peak = said(layer.eval)
    assert zero.startswith("the dependence that the order allows reaches 0 near the mass ")
    assert peak.startswith("the selected spectrum has a maximum near the mass ")


@pytest.mark.parametrize(
    "options, advice",
    [
        ({}, "Train for more batches, at a learning rate"),
        ({"max_slope": 0.5}, "max_slope may forbid what the classifier wants"),
        ({"order": 2, "monotonic": True, "max_slope": 1}, "max_slope and monotonic may forbid what"),
        ({"strength": 1, "max_slope": 1}, "Raise the strength, or leave it out"),
    ],
)
def test_the_advice_follows_what_holds_the_response_back(options, advice):
    (sentence, *_) = said(trained(0.5, **options).eval)
    assert "is not flat" in sentence and f" errors count as flat. {advice}" in sentence


def test_a_training_in_evaluation_mode_is_said():
    """Without a gradient, or with a state, it is an evaluation."""
    rng, fresh, other = np.random.default_rng(1), MoDeConstraint(from_logits=True, order=1).eval(), trained()
    said(other.eval)
    for layer, gradient, times in ((other, True, 0), (fresh, False, 0), (fresh, True, 1)):

        def calls(layer=layer, gradient=gradient):
            for _ in range(2 * EVERY):
                logit, *others = batch(rng)
                layer(logit.requires_grad_(gradient), *others)

        found = said(calls)
        assert ["is in evaluation mode, where it does nothing" in one for one in found] == [True] * times


def test_a_slope_beyond_its_bound_is_named_and_no_bump():
    """Of 300,000 events, whose response at each cut is 1 - 0.8 x, with x from -1 to 1."""
    rng, options = np.random.default_rng(1), {"mass_range": (100, 300), "max_slope": 0.5, "slope_of": "selected"}
    layer = MoDeConstraint(from_logits=True, order=1, training_events=100_000, **options)
    for _ in range(300):
        x = rng.uniform(-1, 1, 1000)
        logit = torch.tensor(rng.random(1000) + (rng.random(1000) < (1 - 0.8 * x) / 2))
        step(layer, logit, torch.zeros(1000), torch.tensor(200 + 100 * x))
    found, efficiency = layer.convergence.slope
    assert layer.convergence.flat is False and found == pytest.approx(0.8, abs=0.08) and efficiency <= 0.5
    (sentence,) = said(layer.eval)
    assert f"its slope is {found:.2g}, above max_slope = 0.5, at a background efficiency of" in sentence
    assert " errors of signal" not in sentence and "%" not in sentence


@pytest.mark.parametrize(
    "options, line",
    [
        ({}, "order=1, mass_range=(100.0, 300.0), max_slope=0.5"),
        ({"slope_of": "rejected", "max_slope": 0.1}, "order=1, mass_range=(100.0, 300.0)"),
        ({"mass_range": None, "edges": [100, 150, 200, 300]}, "order=1, mass_range=(100.0, 300.0), max_slope=0.5"),
        (
            {"order": 2, "monotonic": True, "missing": "ignore", "background_label": [0, 3]},
            "order=2, mass_range=(100.0, 300.0), missing='ignore', monotonic=True, background_label=(0, 3), max_slope=0.5",
        ),
        ({"categories": 2}, "order=1, mass_range=(100.0, 300.0), max_slope=0.5, category=category"),
    ],
)
def test_the_recommended_check_is_of_what_was_trained(options, line):
    options = {"order": 1, "mass_range": (100, 300), "max_slope": 0.5, "slope_of": "selected", **options}
    layer = MoDeConstraint(from_logits=True, training_events=EVENTS, **options)
    rng = np.random.default_rng(1)
    for _ in range(BATCHES):
        mass = rng.uniform(100, 300, 1000)
        more = {"category": torch.zeros(1000).int()} if "categories" in options else {}
        label = torch.tensor(rng.choice(options.get("background_label", [0]), 1000)).float()
        logit = torch.tensor(rng.random(1000) + 2 * np.sin(mass / 20))
        step(layer, logit, label, torch.tensor(mass), **more)
    (sentence,) = said(layer.eval)
    assert f"libmode.metrics.check(score, label, mass, {line}). (monitor=False" in sentence


def test_a_category_of_few_events_is_named():
    rng = np.random.default_rng(1)
    layer = MoDeConstraint(from_logits=True, order=0, training_events=EVENTS, categories=2)
    for k in range(BATCHES):
        logit, label, mass = batch(rng)
        category = torch.zeros(len(mass), dtype=torch.int64)
        category[label == 0] = (torch.arange(int((label == 0).sum())) < (9 if k % 4 == 0 else 1)).long()
        step(layer, logit, label, mass, category=category)
    (sentence,) = said(layer.eval)
    assert f"{BATCHES // 4} of {BATCHES} batches had events enough of category 1 of background label 0" in sentence


# ------------------------------------------------------------- when it is said


def epochs(layer, count, batches=EVERY, bend=0.5, seed=1):
    """What is said of so many epochs with a validation after each."""
    rng = np.random.default_rng(seed)

    def train():
        for _ in range(count):
            layer.train()
            for _ in range(batches):
                step(layer, *batch(rng, bend))
            layer.eval()

    return said(train)


def test_a_validation_between_epochs_is_not_the_end():
    layer = MoDeConstraint(from_logits=True, order=1, training_events=500 * EVERY)
    assert epochs(layer, 4) == []
    assert epochs(MoDeConstraint(from_logits=True, order=1), 4) == []
    long = MoDeConstraint(from_logits=True, order=1, training_events=550 * FEWEST_BATCHES)
    assert epochs(long, 1, FEWEST_BATCHES) == []  # of one epoch
    assert epochs(long, 1, FEWEST_BATCHES) == []
    assert "is not flat" in said(long.eval)[0]  # again, without a training before: the loop has ended


@pytest.mark.parametrize("separation, referring, times", [(8.0, False, 1), (8.0, True, 0), (1.0, False, 0)])
def test_a_cut_that_batches_do_not_reach_is_said(separation, referring, times):
    """Of signal with the largest separation half passes a cut that 1 of 2,000 background events passes."""
    rng = np.random.default_rng(1)
    layer = MoDeConstraint(from_logits=True, order=1, training_events=40_000)

    def one(n):
        logit, label, mass = batch(rng, n=n)
        background = torch.tensor(rng.exponential(size=n))
        return torch.where(label == 0, background, separation + 0.1 * logit), label, mass

    for _ in range(2 * FEWEST_BATCHES):
        logit, label, mass = one(3000)
        of_reference = label == 0
        more = {"reference": Events(logit[of_reference], None, mass[of_reference])} if referring else {}
        step(layer, *one(200), **more)
    found = said(layer.eval)
    assert [text.startswith("batches do not reach a cut that keeps half of the signal: 0.0") for text in found] == [
        True
    ] * times


def test_a_layer_that_nobody_evaluates_says_it_in_the_end(capsys):
    gc.collect()  # of what other tests left
    layers = [trained(0.5)]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        layers.clear()
        gc.collect()
    assert len(caught) == 1 and "is not flat" in str(caught[0].message)
    assert caught[0].filename == __file__  # at the line that called the layer, and not in weakref.py
    layers.append(trained(0.5))
    layers.clear()  # where warnings are errors
    gc.collect()
    assert "libmode.TrainingWarning: the response to background is not flat" in capsys.readouterr().err
    said(lambda: (trained(), gc.collect()))
    assert capsys.readouterr().err == ""


PROGRAM = """
import sys
sys.path.insert(0, {path!r})
from test_convergence import trained
layers = trained(0.5), trained()
"""


def test_the_end_of_the_process_is_the_end():
    program = PROGRAM.format(path=str(Path(__file__).parent))
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0 and done.stderr.count("TrainingWarning: ") == 1
    assert "TrainingWarning: the response to background is not flat" in done.stderr


# ------------------------------------------------------------- what evaluation does


def evaluated(layer, bend, batches=20, seed=5):
    rng = np.random.default_rng(seed)
    for _ in range(batches):
        logit, label, mass = batch(rng, bend)
        assert layer(logit, label, mass) is logit


def test_what_is_flat_in_training_alone_is_said():
    layer = trained(batches=400)
    layer.eval()
    (sentence,) = said(lambda: evaluated(layer, 0.5))
    assert sentence.startswith("the response to background is flat in training mode and not in evaluation mode: after ")
    assert layer.convergence.flat is False and layer.convergence.batches < 400
    assert said(lambda: evaluated(layer, 0.5)) == []


def test_averaged_weights_are_judged_by_what_is_evaluated():
    layer = trained(0.5)
    layer.training = False  # as in a validation
    evaluated(layer, 0.0, 60)
    layer.training = True
    assert layer.convergence.flat is True and said(layer.eval) == []


def test_evaluations_in_the_loop_of_epochs_count_in_the_end():
    """The last one does: the network of the others was another."""
    for bends, times in (((0.5, 0.0), 0), ((0.0, 0.5), 1)):
        rng = np.random.default_rng(1)
        layer = MoDeConstraint(from_logits=True, order=1, training_events=EVENTS)
        for bend in bends:
            layer.train()
            for _ in range(5 * BATCHES):
                step(layer, *batch(rng))
            layer._monitor.trains()
            layer.training = False
            assert said(partial(evaluated, layer, bend, 60)) == []
            layer.training = True
        assert len(said(layer._monitor.conclude)) == times


def test_an_evaluation_takes_anything():
    layer = trained()
    layer.eval()
    logit, label, mass = batch(np.random.default_rng(1))
    for others in ((None, None), (label, mass[:5]), (label + 1, mass), (label, "mass")):
        assert layer(logit, *others) is logit
    assert layer(logit * torch.nan, label, mass).isnan().all()
