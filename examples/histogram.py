"""Metrics of files of any size, read in chunks into a histogram: python histogram.py

Two files with events of the same kind are made here, one of ROOT, read by uproot, and one of Parquet, read by pyarrow.
Memory does not grow with the files. A hist.Hist with axes mass, score and label does the same.
"""

import tempfile
from pathlib import Path

import numpy as np
import pyarrow
import pyarrow.parquet
import uproot
from libmode import metrics

EVENTS, CHUNK = 300_000, 50_000  # of each file; of millions of events, let a chunk have a million
MASS, SCORE, LABEL = np.linspace(50, 250, 201), np.linspace(0, 1, 1001), [-0.5, 0.5, 1.5]


def events(seed):
    """A score with a linear dependence on the mass and a bump at 120."""
    rng = np.random.default_rng(seed)
    label = rng.integers(0, 2, EVENTS)
    mass = np.where(label == 1, rng.normal(120, 10, EVENTS), rng.uniform(50, 250, EVENTS))
    bump = np.exp(-0.5 * ((mass - 120) / 15) ** 2)
    score = 1 / (1 + np.exp(-rng.normal(1.5 * label + 0.004 * mass + 0.2 * bump)))
    return {"mass": mass, "score": score, "label": label}


def chunks(root, parquet):
    """Arrays by name, a chunk at a time."""
    yield from uproot.iterate(f"{root}:events", ["mass", "score", "label"], step_size=CHUNK, library="np")
    for batch in pyarrow.parquet.ParquetFile(parquet).iter_batches(CHUNK):
        yield {name: batch[name].to_numpy() for name in ("mass", "score", "label")}


with tempfile.TemporaryDirectory() as directory:
    root, parquet = Path(directory, "first.root"), Path(directory, "second.parquet")
    with uproot.recreate(root) as file:
        file["events"] = events(1)
    pyarrow.parquet.write_table(pyarrow.table(events(2)), parquet)
    total = np.zeros((200, 1000, 2))
    for chunk in chunks(root, parquet):
        total += np.histogramdd([chunk["mass"], chunk["score"], chunk["label"]], [MASS, SCORE, LABEL])[0]

histogram = total, MASS, SCORE
cut, wide = metrics.threshold(histogram, signal_efficiency=0.5), MASS[::10]
flat = metrics.flatness(histogram, signal_efficiency=0.5, bins=wide, order=1)
print(f"{total.sum():.0f} events, {total.nbytes / 2**20:.0f} MiB of sums")
print(f"AUC {metrics.auc(histogram):.3f}, R50 {metrics.rejection(histogram, threshold=cut):.1f}")
print(metrics.check(histogram, bins=wide, order=1))
