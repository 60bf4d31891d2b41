"""All methods that the benchmark times, by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from . import peers
from .events import Events
from .go_program import ALL_BOUNDS, flags
from .go_program import PAPER as GO_PAPER

# The paper's formula, which the rivals compute: "plain" in the names below. Other calls have the defaults.
PAPER: dict[str, Any] = {"unbiased": False, "moments": "quadrature"}
BOUNDS: dict[str, dict[str, Any]] = {
    "max_slope": {"max_slope": 0.5},
    "monotonic": {"monotonic": True},
    "unbiased": {"unbiased": True},
    "all three": {"max_slope": 0.5, "monotonic": True, "unbiased": True},
    "monotonic+unbiased": {"monotonic": True, "unbiased": True},
}

ORDER_2 = "NumPy order 2"
PLAIN_ORDER_2 = "NumPy plain order 2"
PLAIN_TORCH = "PyTorch plain order 2"
PLAIN_GO = "Go plain order 2"
STRONG = "strong PyTorch"
FLOAT_SORT = "PyTorch with torch.sort"
MODELOSS = "modeloss 0.1.0"


@dataclass(frozen=True)
class Method:
    """One line of the table.

    prepare : from events to a call without arguments; None for the Go program
    threads : that libmode may use, 0 for all
    at_least, at_most : the numbers of events between which it is run
    go_flags : for the Go program
    """

    name: str
    prepare: Callable[[Events], peers.Call] | None
    threads: int = 0
    at_least: int = 100
    at_most: int = 10**7
    go_flags: tuple[str, ...] = field(default=())


def from_numpy(
    events: Events, weighted: bool = False, double: bool = False, order: int = 2, **options: Any
) -> peers.Call:
    """libmode's loss and gradient from NumPy arrays."""
    import libmode

    score, mass = events.in_float64 if double else (events.score, events.mass)
    weight = events.weight if weighted else None
    return lambda: libmode.mode_loss_and_grad(score, mass, weight=weight, order=order, **options)[1]


def with_hess(events: Events, weighted: bool = False, order: int = 2) -> peers.Call:
    """libmode's loss, bias, gradient and bound of the curvature from NumPy arrays."""
    from libmode._evaluate import evaluate
    from libmode._options import check

    options, weight = check("mode", {"order": order}), events.weight if weighted else None
    return lambda: evaluate(options, events.score, None, events.mass, weight, hess=True, quality=True).grad


def baseline(events: Events, **options: Any) -> peers.Call:
    """Another loss of libmode and its gradient from NumPy arrays."""
    import libmode

    return lambda: libmode.mode_loss_and_grad(events.score, events.mass, **options)[1]


def from_torch(events: Events, order: int = 2, **options: Any) -> peers.Call:
    """libmode's loss from PyTorch tensors, forward and backward."""
    import torch
    from libmode.torch import mode_loss

    score, mass = torch.from_numpy(events.score), torch.from_numpy(events.mass)

    def call():
        leaf = score.detach().requires_grad_()
        mode_loss(leaf, mass, order=order, **options).backward()
        return leaf.grad

    return call


def _all() -> list[Method]:
    largest = 10**8
    plain = partial(from_numpy, **PAPER)
    methods = [
        Method(f"NumPy order {order}", partial(from_numpy, order=order), at_most=largest if order == 2 else 10**7)
        for order in (0, 1, 2, 5)
    ]
    methods += [Method(f"{ORDER_2} with hess", with_hess)]
    methods += [Method(PLAIN_ORDER_2, plain, at_most=largest)]
    methods += [Method(f"{PLAIN_ORDER_2} {name}", partial(plain, **options)) for name, options in BOUNDS.items()]
    both = BOUNDS["monotonic+unbiased"]
    methods += [
        Method(f"{PLAIN_ORDER_2} weights", partial(plain, weighted=True)),
        Method(f"{PLAIN_ORDER_2} float64", partial(plain, double=True)),
        Method(f"{PLAIN_ORDER_2} 1 thread", plain, threads=1, at_most=largest),
        Method(f"{PLAIN_ORDER_2} all three 1 thread", partial(plain, **BOUNDS["all three"]), threads=1),
        Method(f"{PLAIN_ORDER_2} 256 bins", partial(plain, bins=256), at_least=10_000),
        Method(f"{PLAIN_ORDER_2} monotonic+unbiased 256 bins", partial(plain, bins=256, **both), at_least=10_000),
    ]
    methods += [Method(f"PyTorch order {order}", partial(from_torch, order=order)) for order in (0, 1, 2, 5)]
    methods += [
        Method(PLAIN_TORCH, partial(from_torch, **PAPER)),
        Method(f"{PLAIN_TORCH} all three", partial(from_torch, **PAPER | BOUNDS["all three"])),
        Method("Go order 2", None, at_most=largest, go_flags=flags(order=2)),
        Method(PLAIN_GO, None, at_most=largest, go_flags=flags(**GO_PAPER)),
        Method(f"{PLAIN_GO} 1 thread", None, go_flags=flags("-threads=1", **GO_PAPER)),
        Method(f"{PLAIN_GO} all three", None, go_flags=flags(**GO_PAPER | ALL_BOUNDS)),
        Method(STRONG, peers.strong_torch, at_most=largest),
        Method(FLOAT_SORT, partial(peers.strong_torch, radix=False)),
        Method(MODELOSS, peers.modeloss),
        Method("DisCo", peers.disco),
        Method("libmode DisCo", partial(baseline, loss="disco")),
        Method("libmode DisCo unbiased", partial(baseline, loss="disco", unbiased=True)),
        Method("hep_ml flatness", peers.hep_ml_flatness),
        Method("np.argsort", peers.numpy_argsort, at_most=largest),
        Method("np.sort", peers.numpy_sort, at_most=largest),
        Method("torch.sort", peers.torch_sort, at_most=largest),
    ]
    return methods


METHODS = {method.name: method for method in _all()}
