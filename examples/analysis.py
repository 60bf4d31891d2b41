"""A search from events to a systematic uncertainty: python analysis.py [number of background events]

docs/analysis.md explains each step. Replace events() by your own; the rest stays as it is.
Needs pip install 'libmode[torch,xgboost,plot]' onnx onnxscript onnxruntime
"""

import sys

import matplotlib.style
import mplhep
import numpy as np
import onnxruntime
import torch
from libmode import metrics, plots
from libmode.torch import MoDeConstraint
from libmode.xgboost import MoDeXGBClassifier
from matplotlib.figure import Figure
from torch.nn.functional import binary_cross_entropy_with_logits
from torch.utils.data import BatchSampler, DataLoader, RandomSampler, TensorDataset

BACKGROUND = int(sys.argv[1]) if len(sys.argv) > 1 else 300_000  # events to train with, and as many to test
SIGNAL_MASSES = (90, 125, 170)  # GeV
RANGE = (50, 250)  # GeV, of the mass in the search
EPOCHS, BATCH = 12, 2048
ORDERS, STRENGTHS = (0, 1), (1, 3, 10, 30)
EFFICIENCIES = (0.5, 0.2)  # of the signal: the working points
FLAT = 1.5  # a residual below so many times what chance makes counts as flat
BINS = np.linspace(*RANGE, 41)  # of the spectrum that is fitted
SCAN = np.arange(74, 215, 4)  # signal masses of the fits, at least two widths from the ends


# ------------------------------------------------------------ events


def events(background, seed):
    """Features (n, 4), label, mass and weight of toy events, with the problems of real samples."""
    rng = np.random.default_rng(seed)
    signal = background // 30
    label = np.repeat([0, 1], [background, signal])
    peaks = np.repeat(SIGNAL_MASSES, signal // 3 + 1)[:signal]
    mass = np.append(50 + rng.exponential(60, background), rng.normal(peaks, 0.07 * peaks))
    substructure = rng.normal(0.55 - 0.17 * label, 0.12)
    pt = 400 + rng.exponential(100, len(mass))
    angle = 2 * mass / pt * np.exp(rng.normal(0, 0.1, len(mass)))  # with pt it tells the mass
    b_tag = rng.normal(label)
    b_tag[rng.random(len(mass)) < 0.05] = np.nan  # outside of the tracker
    mass[rng.random(len(mass)) < 0.02] = -999  # the mass is not known
    weight = np.where(rng.random(len(mass)) < 0.1, -1.0, 1.0) * rng.uniform(0.5, 1.5, len(mass))
    return np.column_stack([substructure, pt, angle, b_tag]).astype(np.float32), label, mass, weight


features, label, mass, weight = events(BACKGROUND, seed=1)
tested, of_label, of_mass, of_weight = events(BACKGROUND, seed=2)  # no training has seen these
balanced = np.where(label == 1, weight[label == 0].sum() / weight[label == 1].sum(), 1) * weight
print(f"{BACKGROUND} background events, {label.sum()} of signal, {np.mean(weight < 0):.0%} of negative weight")


# ------------------------------------------------------------ training

center, spread = np.nanmean(features, axis=0), np.nanstd(features, axis=0)


def prepared(features):
    """Features scaled to width 1, with the mean in place of NaN."""
    filled = np.where(np.isnan(features), center, features)
    return torch.tensor((filled - center) / spread, dtype=torch.float32)


def train(constraint):
    """Trains a network. The constraint ignores events outside its mass_range, such as mass -999."""
    torch.manual_seed(1)
    network = torch.nn.Sequential(
        torch.nn.Linear(4, 64), torch.nn.SiLU(), torch.nn.Linear(64, 64), torch.nn.SiLU(), torch.nn.Linear(64, 1)
    )
    columns = [torch.tensor(column, dtype=torch.float32) for column in (label, mass, balanced)]
    dataset = TensorDataset(prepared(features), *columns)
    # Batches are indexed at once: event by event, as with DataLoader(dataset, BATCH), takes ten times as long.
    sampler = BatchSampler(RandomSampler(dataset), BATCH, drop_last=True)
    loader = DataLoader(dataset, sampler=sampler, batch_size=None)
    optimizer = torch.optim.Adam(network.parameters(), lr=3e-3)
    # At a constant rate the last batches leave a dependence of their own.
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, EPOCHS * len(loader))
    for _ in range(EPOCHS):
        for x, y, m, w in loader:
            logit = network(x)[:, 0]
            if constraint is not None:
                logit = constraint(logit, y, m, w)  # the one line
            optimizer.zero_grad()
            binary_cross_entropy_with_logits(logit, y, w).backward()
            optimizer.step()
            schedule.step()
    return network


def scored(network):
    with torch.no_grad():
        return torch.sigmoid(network(prepared(tested))[:, 0]).numpy()


# ------------------------------------------------------------ judging


def judged(metric, score, efficiency, **options):
    """A metric of the test events at a working point. Masses outside RANGE, such as -999, do not count."""
    return metric(score, of_label, of_mass, weight=of_weight, signal_efficiency=efficiency, **options)


def worst(score, order):
    """The larger residual of the two working points, over its value by chance: 1 is flat."""
    found = [judged(metrics.flatness, score, e, order=order, mass_range=RANGE) for e in EFFICIENCIES]
    return max(flat.rms / flat.expected for flat in found)


def scan(score, efficiency, order):
    """The signal that a fit finds in background, at each mass of the scan."""
    signals = {"signal_masses": SCAN, "signal_width": 0.07 * SCAN}
    return judged(metrics.spurious_signal, score, efficiency, order=order, bins=BINS, **signals)


def table(name, score, order):
    """A line for each working point. The last columns are the systematic uncertainty: the largest signal."""
    for efficiency in EFFICIENCIES:
        cut = metrics.threshold(score, of_label, weight=of_weight, signal_efficiency=efficiency)
        rejection = metrics.rejection(score, of_label, weight=of_weight, threshold=cut)
        flat = judged(metrics.flatness, score, efficiency, order=order, mass_range=RANGE)
        mass, signal, error = scan(score, efficiency, order).largest
        print(
            f"{name:14s} {efficiency:4.0%}  {cut:9.3f}  {rejection:9.1f}  {flat.rms / flat.expected:8.1f}  "
            f"{abs(signal):8.0f}  {abs(signal / error):5.1f} at {mass:.0f}"
        )


# ------------------------------------------------------------ the analysis

torch.set_num_threads(1)  # so small a network gains nothing from more
with matplotlib.style.context(mplhep.style.ROOT):
    figure = Figure((20, 15), layout="constrained")
    above, below = figure.subfigures(2)
    frontier, roc = above.subplots(1, 2)
    panels = below.subplots(2, 2, sharex=True, height_ratios=[2, 1])

    print("\norder strength    AUC  residual over chance")
    plain = scored(train(None))
    found = worst(plain, 0), metrics.auc(plain, of_label, weight=of_weight)
    print(f"without MoDe    {found[1]:.3f}  {found[0]:.1f}")
    frontier.plot(*found, "s", label="without MoDe")
    frontier.axvline(1, color="black", ls=":")  # a score that does not depend on the mass
    trained = []
    for order in ORDERS:
        points = []
        for strength in STRENGTHS:
            constraint = MoDeConstraint(order=order, mass_range=RANGE, strength=strength, from_logits=True)
            network = train(constraint)
            score = scored(network)
            flat, auc = worst(score, order), metrics.auc(score, of_label, weight=of_weight)
            points.append((flat, auc))
            trained.append((flat > FLAT, flat if flat > FLAT else -auc, order, network, score))
            print(f"{order:5d} {strength:8d}  {auc:.3f}  {flat:.1f}")
        x, y = np.transpose(points)
        frontier.plot(x, y, "o-", label=f"order {order}")
        for strength, *point in zip(STRENGTHS, x, y, strict=True):
            frontier.annotate(f"{strength}", point, (3, 3), textcoords="offset points", fontsize="x-small")
    # Of all that are flat at each working point, the one that separates best.
    _, _, order, network, score = min(trained, key=lambda one: one[:2])

    before = scan(score, EFFICIENCIES[0], order).background_order  # of all background, by an F-test
    print(f"\nThe choice is order {order}. Fits have a polynomial of order {before} + {order}.\n")

    trees = MoDeXGBClassifier(order=order, mass_range=RANGE, n_jobs=1)  # takes NaN as it is
    boosted = trees.fit(features, label, mass=mass, sample_weight=balanced).predict_proba(tested)[:, 1]

    print("                signal  threshold  rejection  residual  spurious  over its error")
    for name, own in (("without MoDe", plain), (f"MoDe[{order}]", score), ("XGBoost, MoDe", boosted)):
        table(name, own, order)
        plots.roc(roc, metrics.roc(own, of_label, weight=of_weight), label=name)
        found = judged(metrics.efficiency, own, EFFICIENCIES[-1], bins=BINS)
        if own is plain:
            panels[0, 0].hist(
                BINS[:-1], BINS, weights=found.background, density=True, color="0.85", label="all background"
            )
        panels[0, 0].hist(BINS[:-1], BINS, weights=found.selected, density=True, histtype="step", label=name)
        panels[1, 0].stairs(found.value / np.average(found.value, weights=found.background), BINS, baseline=None)
        fits = scan(own, EFFICIENCIES[-1], order)
        panels[0, 1].errorbar(fits.signal_mass, fits.signal, fits.error, fmt="o", label=name)
        panels[1, 1].plot(fits.signal_mass, fits.signal / fits.error, "o")
    frontier.set(xscale="log", xlabel="residual over expected", ylabel="AUC")
    roc.set(xlim=(0, 1), ylim=(1, 1e4))
    panels[0, 1].set(ylabel="spurious signal")
    panels[0, 0].set(ylabel="normalized to unit area")
    panels[1, 0].set(xlabel="mass [GeV]", ylabel="after / before")
    panels[1, 1].set(xlabel="signal mass [GeV]", ylabel="signal / error")
    for axes in (frontier, roc, *panels[0]):
        axes.legend(fontsize="small")
    figure.savefig("analysis.png", dpi=50)


# ------------------------------------------------------------ out of Python

# Without libmode: MoDe acts in training alone. From opset 24 on SiLU is one operator, which ROOT's SOFIE may not have.
network = torch.nn.Sequential(network, torch.nn.Sigmoid()).eval()
torch.onnx.export(network, (prepared(tested[:1]),), "network.onnx", opset_version=18, dynamo=True, verbose=False)
session = onnxruntime.InferenceSession("network.onnx")
(name,) = (given.name for given in session.get_inputs())
there = [session.run(None, {name: prepared(tested[k : k + 1]).numpy()})[0][0, 0] for k in range(1000)]
print(f"\nnetwork.onnx differs by at most {np.abs(np.array(there) - score[:1000]).max():.0e}")
print("In C++ the features are (x - center) / spread, and 0 for NaN:")
print("const float center[] = {" + ", ".join(f"{value:.6g}f" for value in center) + "};")
print("const float spread[] = {" + ", ".join(f"{value:.6g}f" for value in spread) + "};")
