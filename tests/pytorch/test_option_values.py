"""Options are copied when they are given: what changes afterwards changes nothing, and nothing is kept alive."""

import copy
import gc
import weakref

import libmode
import numpy as np
import pytest
import torch
from libmode.torch import MoDeLoss, mode_loss
from libmode.torch.baselines import FlatnessLoss

RNG = np.random.default_rng(1)
SCORE, MASS = RNG.random(500), RNG.random(500)
SCORE_TENSOR, MASS_TENSOR = torch.tensor(SCORE), torch.tensor(MASS)


def by_numpy(**options):
    return libmode.mode_loss(SCORE, MASS, **options)


def by_torch(**options):
    return mode_loss(SCORE_TENSOR, MASS_TENSOR, **options).item()


def by_module(**options):
    return MoDeLoss(**options)(SCORE_TENSOR, torch.zeros(500), MASS_TENSOR).item()


FRONTENDS = pytest.mark.parametrize("frontend", [by_numpy, by_torch, by_module])


def assign(values):
    """What puts other numbers in the place of those that a container holds."""

    def change(container):
        container[...] = values if isinstance(container, np.ndarray) else torch.tensor(values)

    return change


CONTAINERS = {
    "array of no dimension": ("max_slope", np.array(0.05), 0.4, assign(0.4)),
    "tensor of no dimension": ("max_slope", torch.tensor(0.05), 0.375, assign(0.375)),
    "integer tensor": ("bins", torch.tensor(4), 9, assign(9)),
    "edges, array": ("edges", np.array([0.0, 0.2, 1.0]), [0, 0.7, 1], assign([0, 0.7, 1])),
    "edges, tensor": ("edges", torch.tensor([0.0, 0.2, 1.0]), [0, 0.5, 1], assign([0, 0.5, 1])),
    "edges, list": ("edges", [0.0, 0.2, 1.0], [0, 0.5, 1], lambda edges: edges.__setitem__(1, 0.5)),
    "edges, list of tensors": ("edges", [0.0, torch.tensor(0.2), 1.0], [0, 0.5, 1], lambda edges: edges[1].fill_(0.5)),
    "edges of one variable, array": (
        "edges",
        [np.array([0.0, 0.2, 1.0])],
        [[0, 0.7, 1]],
        lambda edges: assign([0, 0.7, 1])(edges[0]),
    ),
    "mass_range of one variable, list": (
        "mass_range",
        [[0.0, 0.5]],
        [(0, 0.75)],
        lambda ends: ends[0].__setitem__(1, 0.75),
    ),
    "mass_range, array": ("mass_range", np.array([0.0, 0.5]), (0, 0.75), assign([0, 0.75])),
    "mass_range, tuple of tensors": ("mass_range", (0, torch.tensor(0.5)), (0, 0.75), lambda ends: ends[1].fill_(0.75)),
}


@FRONTENDS
@pytest.mark.parametrize("kind", CONTAINERS)
def test_a_container_that_changes_in_place_is_read_again(frontend, kind):
    name, container, other, change = CONTAINERS[kind]
    container = copy.deepcopy(container)
    before, after = frontend(order=1, **{name: container}), frontend(order=1, **{name: other})
    assert before != after
    change(container)
    assert frontend(order=1, **{name: container}) == after


@pytest.mark.parametrize("module", [MoDeLoss, FlatnessLoss])
def test_a_module_keeps_what_it_was_made_with(module):
    edges, label = np.array([0.0, 0.2, 1.0]), torch.tensor([0, 1])
    loss = module(edges=edges, background_label=label)
    target = torch.arange(500) % 2

    def value():
        return loss(SCORE_TENSOR, target, MASS_TENSOR).item()

    before, shown = value(), repr(loss)
    edges[1], label[0] = 0.7, 5
    assert value() == before
    assert repr(loss) == shown and "edges=(0.0, 0.2, 1.0)" in shown and "background_label=(0, 1)" in shown


class Array(np.ndarray):
    """An array that a weak reference can point to."""


@FRONTENDS
@pytest.mark.parametrize(
    "name, make",
    [
        ("max_slope", lambda: torch.tensor(0.05)),
        ("max_slope", lambda: np.array(0.05).view(Array)),
        ("edges", lambda: np.array([0, 0.5, 1]).view(Array)),
    ],
)
def test_no_cache_keeps_an_option_alive(frontend, name, make):
    value = make()
    reference = weakref.ref(value)
    frontend(order=1, **{name: value})
    del value
    gc.collect()
    assert reference() is None


@FRONTENDS
def test_numbers_of_every_kind_are_one_option(frontend):
    want = frontend(order=1, max_slope=0.25, bins=8, unbiased=True)
    for number in (np.float32, np.float64, np.array, torch.tensor):
        for integer in (np.int64, np.uint8, np.array, torch.tensor):
            assert frontend(order=integer(1), max_slope=number(0.25), bins=integer(8), unbiased=np.True_) == want


@FRONTENDS
@pytest.mark.parametrize("binning", ["quantile", "uniform"])
def test_edges_go_with_no_other_binning(frontend, binning):
    with pytest.raises(ValueError, match=f"binning = '{binning}' cannot be given together with edges"):
        frontend(binning=binning, edges=[0, 0.5, 1])
    with pytest.raises(ValueError, match=f"binning = '{binning}' cannot be given together with edges"):
        libmode.mode_loss(SCORE, MASS, loss="flatness", binning=binning, edges=[0, 0.5, 1])
    assert frontend(binning="edges", edges=[0, 0.5, 1]) == frontend(edges=[0, 0.5, 1])


@FRONTENDS
def test_bins_that_are_none_are_bins_that_were_not_given(frontend):
    assert frontend(bins=None) == frontend()
    for zero in (0, np.array(0), torch.tensor(0)):
        with pytest.raises(ValueError, match="^bins = 0: must be at least 1$"):
            frontend(bins=zero)
