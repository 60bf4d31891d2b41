"""Draws the pictures of README, docs/index.md, docs/how-it-works.md and docs/from-disco.md into docs/images.

Usage, in the root of the repository: python -m docs.draw_pictures [NAME...], for instance tight. All take
three minutes, and need the extras torch and plot.
"""

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
import libmode
import matplotlib.pyplot as plt
import numpy as np
import torch
from libmode import metrics
from libmode.torch import MoDeConstraint, distance_correlation

from studies.drawing import OKABE_ITO, efficiency
from studies.zoo.events import sculpted
from studies.zoo.problems import PROBLEMS, events_of
from studies.zoo.train import scores as scores_of
from studies.zoo.train import trained

IMAGES = Path(__file__).parent / "images"
COLORS: dict[int | None, str] = {
    None: "black",
    **{k: OKABE_ITO[c] for k, c in enumerate(("vermillion", "blue", "bluish green"))},
}
OF_SIGNAL: dict[str, Any] = {
    "color": OKABE_ITO["reddish purple"],
    "ls": ":",
    "lw": 1.5,
    "zorder": 0,
    "label": "signal's mass",
}
GAP = {"hspace": 0.3, "wspace": 0.3}


def scores(order: int | None, seed: int = 1) -> tuple[Any, Any, Any]:
    """Scores, labels and masses of 400,000 events for which a network was not trained; order None: without MoDe."""
    training, test = sculpted(100_000, seed), sculpted(400_000, seed + 1)
    features, label, mass = (torch.from_numpy(array) for array in (training.features, training.label, training.mass))
    torch.manual_seed(seed)
    layers = [torch.nn.Linear(2, 32), torch.nn.SiLU(), torch.nn.Linear(32, 32), torch.nn.SiLU(), torch.nn.Linear(32, 1)]
    network = torch.nn.Sequential(*layers, torch.nn.Sigmoid())
    mode = None if order is None else MoDeConstraint(order=order)
    optimizer = torch.optim.Adam(network.parameters(), lr=3e-3)
    batches = [part for _ in range(30) for part in torch.randperm(len(label)).split(1_000)]
    slower = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, len(batches))
    for batch in batches:
        score = network(features[batch])[:, 0]
        if mode is not None:
            score = mode(score, label[batch], mass[batch])
        optimizer.zero_grad()
        torch.nn.functional.binary_cross_entropy(score, label[batch]).backward()
        optimizer.step()
        slower.step()
    with torch.no_grad():
        return network(torch.from_numpy(test.features))[:, 0].numpy(), test.label, test.mass


def sculpting() -> None:
    """A spectrum of background before and after selections, and the efficiencies of the selections by mass."""
    bins = np.linspace(50, 250, 41)
    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.2), gridspec_kw=GAP)
    for order in (None, 0, 1, 2):
        score, label, mass = scores(order)
        name = "cross entropy alone" if order is None else f"MoDe, order {order}"
        style = {"color": COLORS[order], "lw": 2}
        found = metrics.efficiency(score, label, mass, signal_efficiency=0.5, bins=bins)
        efficiency(right, found, label=name, **style)
        if order is None:
            everything = {"weights": found.background, "color": "0.85", "label": "all background"}
            left.hist(bins[:-1], bins, density=True, **everything)
        if order in (None, 1):
            selected = {"weights": found.selected, "label": f"selected: {name}"}
            left.hist(bins[:-1], bins, density=True, histtype="step", **selected, **style)
    left.set(ylabel="background, unit area", title="Background spectrum")
    right.set(xlabel="mass [GeV]", ylabel="background efficiency", title="Background efficiency", ylim=(0, 0.27))
    left.set_ylim(0, 1.3 * left.get_ylim()[1])
    for axes in (left, right):
        axes.set_xlabel("mass [GeV]")
        axes.axvline(120, **OF_SIGNAL)
        axes.legend(frameon=False, fontsize=9)
    _save(figure, "why_sculpting.png")


def tight() -> None:
    """The background of the zoo's slices without weights at a cut that keeps 50 % of the signal, by four trainings.

    DisCo has the strength with the largest rejection of those that are flat on plain background.
    """
    problem, bins = "slices without weights, order 1", np.linspace(0, 1, 26)
    _, test = events_of(problem, 1)
    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.2), gridspec_kw=GAP)
    left.axhline(1, color="0.6", lw=1, label="all background")
    for name, color, method, strength, order in (
        ("cross entropy", "black", "none", None, None),
        ("DisCo, strength 30", OKABE_ITO["bluish green"], "DisCo", 30, 0),
        ("MoDeConstraint(order=1)", OKABE_ITO["vermillion"], "MoDeConstraint", None, 1),
        ("MoDeConstraint(order=2)", OKABE_ITO["blue"], "MoDeConstraint", None, 2),
    ):
        PROBLEMS[name] = replace(PROBLEMS[problem], options={**PROBLEMS[problem].options, "order": order or 0})
        network = trained(name, method, strength, seed=1, batch=1_024, epochs=1, rate=1, signal=1)
        score = scores_of(network, test.features)
        found = metrics.efficiency(score, test.label, test.mass, signal_efficiency=0.5, bins=bins)
        rejection = metrics.rejection(score, test.label, signal_efficiency=0.5)
        style = {"histtype": "step", "label": f"{name}, rejection {rejection:.0f}", "color": color}
        left.hist(bins[:-1], bins, weights=found.selected, density=True, lw=2, **style)
        efficiency(right, found, label=name, color=color, lw=2)
        if order is not None:
            center = (bins[:-1] + bins[1:]) / 2
            curve = np.polynomial.Polynomial.fit(center, found.value, order)
            right.plot(center, curve(center), "--", color="black", lw=1, label="polynomials" if order == 2 else None)
    left.set(ylabel="unit area", title="Background selected at 50 % signal efficiency", ylim=(0, 4.6))
    right.set(ylabel="background efficiency", title="Background efficiency", ylim=(0, 0.11))
    for axes in (left, right):
        axes.set_xlabel("mass")
        axes.axvline(0.4, **OF_SIGNAL)
        axes.legend(frameon=False, fontsize=9)
    _save(figure, "tight.png")


def orders() -> None:
    """Curves of efficiency against mass that cost nothing, and one that does."""
    mass = np.linspace(-1, 1, 200)
    bump = 0.25 + 0.5 * np.exp(-0.5 * ((mass - 0.1) / 0.15) ** 2)
    allowed = {
        "order=0: none": [0 * mass + level for level in (0.2, 0.45, 0.7)],
        "order=1: linear": [0.45 + slope * mass for slope in (-0.3, -0.12, 0.2)],
        "order=2: quadratic": [0.3 + 0.25 * mass + 0.25 * mass**2, 0.6 - 0.3 * mass**2, 0.45 - 0.25 * mass],
        "order=2, monotonic=True": [0.3 + 0.3 * mass + 0.14 * mass**2, 0.5 - 0.25 * mass + 0.1 * mass**2],
    }
    figure, row = plt.subplots(1, 4, figsize=(11, 2.9), sharey=True)
    for (name, curves), order, axes in zip(allowed.items(), (0, 1, 2, 2), row, strict=True):
        axes.plot(mass, bump, "--", color="0.55", label="costs")
        for number, curve in enumerate(curves):
            axes.plot(mass, curve, color=COLORS[order], lw=2, label=None if number else "costs nothing")
        axes.set(title=name, xlabel="mass", ylim=(0, 1), xticks=[], yticks=[])
        axes.title.set_fontsize(10)
        axes.legend(frameon=False, fontsize=8, loc="upper right")
    row[0].set_ylabel("background efficiency")
    _save(figure, "why_orders.png")


def one_event() -> None:
    """From the events to the slope of the loss with respect to the score of one of them."""
    rng = np.random.default_rng(4)
    mass = np.sort(rng.uniform(60, 180, 160))
    bump = np.exp(-0.5 * ((mass - 112) / 14) ** 2)
    score = 1 / (1 + np.exp(-rng.normal((mass - 130) / 60 + 1.8 * bump, 0.7)))
    edges = libmode.mode_edges(mass, bins=8)
    edges[0], edges[-1] = mass[0], mass[-1]
    bin_of = np.clip(np.searchsorted(edges, mass, "right") - 1, 0, 7)
    chosen = int(np.flatnonzero(bin_of == 3)[np.argsort(score[bin_of == 3])[9]])
    s, own = score[chosen], int(bin_of[chosen])
    below = np.bincount(bin_of, score <= s) / np.bincount(bin_of)
    grad = libmode.mode_loss_and_grad(score, mass, order=1, bins=8, unbiased=False)[1]
    center = np.array([mass[bin_of == k].mean() for k in range(8)])
    line = np.polynomial.Polynomial.fit(center, below, 1)

    figure, (first, second, third, fourth) = plt.subplots(1, 4, figsize=(13.5, 3.5), gridspec_kw=GAP)
    blue, red = OKABE_ITO["blue"], OKABE_ITO["vermillion"]
    first.plot(mass, score, ".", color="0.6")
    first.plot(mass[bin_of == own], score[bin_of == own], ".", color=blue)
    for edge in edges:
        first.axvline(edge, color="0.85", lw=1, zorder=0)
    first.set(title="1. it falls into a mass bin", xlabel="mass [GeV]", ylabel="score")

    levels = np.sort(score[bin_of == own])
    second.stairs(np.arange(len(levels) + 1) / len(levels), [0, *levels, 1], baseline=None, color=blue, lw=2)
    second.axvline(s, color=red, lw=1, ls=":")
    second.set(title="2. it is a step of the bin's CDF", xlabel="score s", ylabel="$F_b(s)$", xlim=(0, 1))

    third.plot(center, below, "o", color="0.6")
    third.plot(center[own], below[own], "o", color=blue)
    third.plot(center, line(center), color=OKABE_ITO["bluish green"], lw=2)
    for k in range(8):
        third.plot([center[k]] * 2, [below[k], line(center[k])], color=blue if k == own else "0.6", lw=1)
    third.set(
        title="3. at its score, all bins: a line?", xlabel="mass [GeV]", ylabel="$F_b(s)$ at its score", ylim=(0, 1.05)
    )

    step = 0.1 / np.abs(grad).max()
    for k in range(len(mass)):
        style = {"color": red, "lw": 2} if k == chosen else {"color": "0.6", "lw": 1}
        to = (mass[k], score[k] - step * grad[k])
        fourth.annotate(
            "", to, (mass[k], score[k]), arrowprops={"arrowstyle": "->", "shrinkA": 0, "shrinkB": 0, **style}
        )
    fourth.set_xlim(first.get_xlim())
    fourth.set(title="4. how the loss moves scores", xlabel="mass [GeV]", ylabel="score", ylim=(0, 1))
    for axes, at in (
        (first, (mass[chosen], s)),
        (second, (s, 10 / len(levels))),
        (third, (center[own], below[own])),
    ):
        axes.plot(*at, "o", mfc="none", mec=red, ms=12, mew=2)
    for axes in figure.axes:
        axes.title.set_fontsize(10)
    _save(figure, "how_one_event.png")


def bias_of_disco() -> None:
    """DisCo of 256 events, plain and unbiased, against DisCo of all events."""
    torch.manual_seed(1)
    x, noise = torch.rand(2, 200_000)
    shares = np.linspace(0, 0.16, 15)
    truth, values = [], []
    for share in shares:
        y = share * x + (1 - share) * noise
        truth.append(distance_correlation(x, y).item())
        batches = list(zip(x[:51_200].split(256), y[:51_200].split(256), strict=True))
        values.append([[distance_correlation(*b, unbiased=u).item() for b in batches] for u in (False, True)])
    figure, axes = plt.subplots(figsize=(5.5, 3.8))
    for number, (name, color) in enumerate({"plain": "vermillion", "unbiased": "blue"}.items()):
        found = np.array(values)[:, number]
        mean, spread, color = found.mean(1), found.std(1), OKABE_ITO[color]
        axes.plot(truth, mean, color=color, lw=2, label=f"{name}, 256 events")
        axes.fill_between(truth, mean - spread, mean + spread, color=color, alpha=0.2, lw=0)
    axes.plot(truth, truth, "--", color="0.4", label="all events")
    axes.set(xlabel="squared distance correlation of all events", ylabel="the same in a batch: mean and spread")
    axes.legend(frameon=False)
    _save(figure, "disco_bias.png")


def _save(figure: Any, name: str) -> None:
    figure.savefig(IMAGES / name, dpi=110, bbox_inches="tight", metadata={"Software": None})
    plt.close(figure)


PICTURES = {one.__name__: one for one in (tight, sculpting, orders, one_event, bias_of_disco)}

if __name__ == "__main__":
    for chosen in sys.argv[1:] or PICTURES:
        PICTURES[chosen]()
