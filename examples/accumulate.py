"""The loss and metrics of files of any size, read in chunks: python accumulate.py

Two files with events of the same kind are made here, one of ROOT, read by uproot, and one of Parquet, read by pyarrow.
The first pass over them finds the bins of mass, the second the rest. Memory does not grow with the files.
"""

import tempfile
from pathlib import Path

import numpy as np
import pyarrow
import pyarrow.parquet
import uproot
from libmode import Accumulator

EVENTS, CHUNK = 300_000, 50_000  # of each file; of millions of events, let a chunk have a million


def events(seed):
    """A score which the mass shows in: linearly, and by a bump at 120."""
    rng = np.random.default_rng(seed)
    label = rng.integers(0, 2, EVENTS)
    mass = np.where(label == 1, rng.normal(120, 10, EVENTS), rng.uniform(50, 250, EVENTS))
    bump = np.exp(-0.5 * ((mass - 120) / 15) ** 2)
    score = 1 / (1 + np.exp(-rng.normal(1.5 * label + 0.004 * mass + 0.2 * bump)))
    return {"score": score.astype(np.float32), "mass": mass.astype(np.float32), "label": label}


def of_root(path, names):
    """Chunks of these branches of a tree, arrays by name."""
    return uproot.iterate(f"{path}:events", names, step_size=CHUNK, library="np")


def of_parquet(path, names):
    """Chunks of these columns."""
    for batch in pyarrow.parquet.ParquetFile(path).iter_batches(CHUNK, columns=names):
        yield {name: column.to_numpy() for name, column in zip(names, batch.columns, strict=True)}


with tempfile.TemporaryDirectory() as directory:
    root, parquet = Path(directory, "first.root"), Path(directory, "second.parquet")
    with uproot.recreate(root) as file:
        file["events"] = events(1)
    pyarrow.parquet.write_table(pyarrow.table(events(2)), parquet)

    def chunks(*names):
        for reader, path in ((of_root, root), (of_parquet, parquet)):
            yield from reader(path, list(names))

    background = (chunk["mass"][chunk["label"] == 0] for chunk in chunks("mass", "label"))
    total = Accumulator(order=1, edges=Accumulator.edges_of(background, bins=20))
    for chunk in chunks("score", "mass", "label"):
        total.add(chunk["score"], chunk["mass"], label=chunk["label"])

found, cut = total.evaluate(), total.threshold(signal_efficiency=0.5)
flat = total.flatness(cut)
print(f"{total.added} events, {total.nbytes / 2**20:.0f} MiB of sums")
print(f"loss {found.loss:.2e}, known to {found.error:.0e}; expected of the plain loss {found.bias:.0e}")
print(f"AUC {total.auc():.3f}, R50 {total.rejection():.1f}, 1/JSD {1 / total.jsd(cut):.0f}")
print(f"residual at 50 % {flat.rms / flat.expected:.1f} times what is expected of a line")
