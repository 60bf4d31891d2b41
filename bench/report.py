"""Time and peak memory of ``libmode report`` on a ROOT file: python -m bench.report [EVENTS] [--without-label].

10^7 events by default, in float32, with a label and a weight, of which a tenth is negative; writing the file is not
counted. The command runs in a process of its own, and the peak is that of its resident memory.
"""

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import uproot

CHUNK = 10**6


def chunk(events: int, rng: np.random.Generator) -> dict[str, np.ndarray]:
    """A falling background, whose score depends a little on the mass, and a peak of signal."""
    label = rng.random(events) < 0.3
    mass = np.where(label, rng.normal(120, 8, events), 50 + rng.exponential(60, events))
    x = rng.normal(np.where(label, 1.5, mass / 400))
    weight = np.where(rng.random(events) < 0.1, -1, 1) * rng.exponential(1, events)
    columns = {"score": 1 / (1 + np.exp(-x)), "mass": mass, "weight": weight, "label": label}
    return {name: column.astype(np.float32) for name, column in columns.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("events", nargs="?", type=float, default=1e7)
    parser.add_argument("--without-label", action="store_true", help="all are background")
    given = parser.parse_args()
    events, rng = round(given.events), np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "events.root")
        with uproot.recreate(path) as file:
            file.mktree("events", dict.fromkeys(chunk(1, rng), np.float32))
            for start in range(0, events, CHUNK):
                file["events"].extend(chunk(min(CHUNK, events - start), rng))
        command = [sys.executable, "-m", "libmode", "report", f"{path}:events", "--score", "score", "--mass", "mass"]
        command += ["--order", "0", "--weight", "weight"] + ([] if given.without_label else ["--label", "label"])
        start = time.perf_counter()
        subprocess.run([*command, "--out", folder], check=True, stdout=subprocess.DEVNULL)
        wall = time.perf_counter() - start
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        size = path.stat().st_size
    print(
        f"{events:,} events, {size / 2**20:.0f} MiB: {wall:.1f} s, "
        f"{used.ru_utime + used.ru_stime:.1f} s of processors, peak memory {used.ru_maxrss / 2**20:.2f} GiB"
    )


if __name__ == "__main__":
    main()
