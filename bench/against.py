"""Times two versions of the core in turns: ``./build.sh bench --against COMMIT``.

The Go program bench/gobench of the commit (the old one) and that of this tree (the new one), as it is now, are
compiled, each with its own core. Both have the same events. Every case names its
options, so that both compute the same whatever their defaults are; where the losses differ all the
same, the table says so. A case that one of the cores does not have is left out, with what it said.

Times are medians of a call; the last column is the ratio of the fastest calls. Where the two ratios are far
apart, the machine was disturbed.
"""

from __future__ import annotations

import argparse
import math
import shutil
import subprocess
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path

from . import machine
from .go_program import ALL_BOUNDS, DEFAULTS, PAPER, ROOT, GoProgram, build, flags
from .timing import Timing, interleaved

SIZES = tuple(10**k for k in range(2, 8))
QUICK_SIZES = SIZES[:4]
LIMIT = 5.0  # seconds; of longer calls there are two

CASES = {
    "order 2, plain": flags(**PAPER),
    "order 2, defaults": flags(**DEFAULTS),
    "weights": flags("-weighted", **PAPER),
    "float64": flags("-float64", **PAPER),
    "max_slope": flags(**PAPER | {"max_slope": 0.5}),
    "monotonic": flags(**PAPER | {"monotonic": True}),
    "all three bounds": flags(**PAPER | ALL_BOUNDS),
    "labels, half background": flags("-labeled", **PAPER),
    "DisCo": flags("-loss=disco"),
}


def build_both(commit: str, directory: Path) -> dict[str, Path]:
    """The programs with the core of a commit and with the core of this tree."""
    programs = {name: directory / name for name in ("old", "new")}
    build(programs["new"])
    archive, tree = directory / "core.zip", directory / "tree"
    subprocess.run(
        ["git", "archive", f"--output={archive}", commit, "core", "bench/gobench", "go.mod", "go.sum"],
        cwd=ROOT,
        check=True,
    )
    shutil.unpack_archive(archive, tree)
    build(programs["old"], tree)
    return programs


def measure(programs: dict[str, Path], case: str, n: int, threads: int, budget: float) -> str:
    """One row of the table."""
    with ExitStack() as stack:
        losses, samplers = [], {}
        for name, program in programs.items():
            running = GoProgram(program, n, (*CASES[case], f"-threads={threads}"))
            stack.callback(running.close)
            try:
                losses.append(running.loss())
            except RuntimeError as error:
                return f"{case:<24}{n:>12,}  left out, the {name} one says: {error}"
            samplers[name] = running.sample
        timings = interleaved(samplers, budget, LIMIT, f"{case}, n = {n:,}")
    same = math.isclose(*losses, rel_tol=1e-6, abs_tol=1e-9)
    return row(case, n, timings["old"], timings["new"]) + ("" if same else f"  the losses differ: {losses}")


def row(case: str, n: int, old: Timing, new: Timing) -> str:
    medians = f"{1e3 * old.median:>12.4f}{1e3 * new.median:>12.4f}{new.median / old.median:>9.3f}"
    return f"{case:<24}{n:>12,}{medians}{new.fastest / old.fastest:>9.3f}"


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="./build.sh bench", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--against", required=True, metavar="COMMIT")
    parser.add_argument("--quick", action="store_true", help="up to 10^5 events, few repeats")
    parser.add_argument("--threads", type=int, default=0, metavar="N", help="of either version; all by default")
    parser.add_argument("--sizes", type=float, nargs="+", metavar="N", help="numbers of events, such as 1e3 1e6")
    parser.add_argument("--cases", nargs="+", metavar="NAME", choices=CASES, default=CASES, help="; ".join(CASES))
    return parser.parse_args()


def main() -> None:
    chosen = arguments()
    sizes = map(int, chosen.sizes) if chosen.sizes else QUICK_SIZES if chosen.quick else SIZES
    described = ["git", "log", "-1", "--format=%h %s", chosen.against, "--"]
    commit = subprocess.run(described, cwd=ROOT, capture_output=True, text=True)
    if commit.returncode:
        sys.exit(commit.stderr.strip())
    print(f"{machine.processor()}, {machine.cores()} cores, threads: {chosen.threads or 'all'}")
    print(f"old: {commit.stdout.strip()}\nnew: this tree\n")
    with tempfile.TemporaryDirectory() as directory:
        programs = build_both(chosen.against, Path(directory))
        print(f"{'':<24}{'events':>12}{'old [ms]':>12}{'new [ms]':>12}{'new/old':>9}{'fastest':>9}")
        for n in sizes:
            for case in chosen.cases:
                print(measure(programs, case, n, chosen.threads, budget=1 if chosen.quick else 3), flush=True)


if __name__ == "__main__":
    main()
