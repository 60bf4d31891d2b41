"""Times all methods on the same arrays: ``python -m bench.run``.

Every call has the next of many sets of arrays, which no branch predictor learns by heart;
the Go program draws its own, like the others. Prints a table for each number of events
and one of libmode beside sorts, and writes times.csv, time_and_memory.png and results.json (with
the description of the machine). Every number is of one call for loss and
gradient, in medians; ratios are to libmode from NumPy with order 2 and the paper's
formula, which is what its rivals compute, at the same number of events, in the same
run. "Plain" in a name is that formula; without it a call has libmode's defaults.
"""

from __future__ import annotations

import argparse
import csv
import json
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path

import libmode
from tqdm import tqdm

from . import go_program, machine, memory, plots, summary, training_step
from .events import Events, sets_of
from .go_program import GoProgram
from .methods import METHODS, PLAIN_ORDER_2, Method
from .timing import Sampler, Timing, interleaved, sampler

SIZES = (10**2, 10**3, 10**4, 32_000, 10**5, 10**6, 10**7)
QUICK_SIZES = (10**3, 10**4, 32_000)


class Benchmark:
    """Runs the methods at growing numbers of events, and keeps the results."""

    def __init__(self, program: Path, methods: Sequence[Method], budget: float, limit: float) -> None:
        self.program = program
        self.methods = methods
        self.budget = budget  # seconds of timing at each number of events
        self.limit = limit  # a method of which one call takes longer stops there
        self.times: dict[tuple[str, int], Timing] = {}
        self.extra: dict[tuple[str, int], int | None] = {}
        self.memory_method: set[str] = set()
        self.stopped: dict[str, str] = {}

    def warm_up(self) -> None:
        """Loads every library and starts its threads, so that no method pays for this later."""
        for method in tqdm(self.methods, desc="loading", unit="method", leave=False):
            if method.prepare is not None:
                method.prepare(Events(max(1_000, method.at_least)))()

    def run(self, n: int) -> None:
        with ExitStack() as stack:
            sets = sets_of(n)
            wanted = [m for m in self.methods if m.at_least <= n <= m.at_most and m.name not in self.stopped]
            # Memory first: its process may die, and shows whether a method can run at all.
            for method in tqdm(
                wanted if n >= memory.SMALLEST else [], desc=f"n = {n:,} memory", unit="method", leave=False
            ):
                self._measure_memory(method, n)
            wanted = [method for method in wanted if method.name not in self.stopped]
            samplers = {method.name: self._sampler(method, sets, stack) for method in wanted}
            timings = interleaved(samplers, self.budget, self.limit, f"n = {n:,}")
        for name, timing in timings.items():
            self.times[name, n] = timing
            if timing.note:
                self.stopped[name] = f"after n = {n:,}: {timing.note}"

    def _measure_memory(self, method: Method, n: int) -> None:
        if method.prepare is None:
            program = GoProgram(self.program, n, method.go_flags)
            self.extra[method.name, n] = program.extra_memory()
            program.close()
            return
        # Making the events and loading libraries takes time too.
        peak = memory.measure(method.name, n, timeout=2 * self.limit + 30 + n / 10**6)
        self.extra[method.name, n] = peak.extra
        if peak.failure:
            self.stopped[method.name] = f"at n = {n:,}: {peak.failure}"
        else:
            self.memory_method.add(peak.how)

    def _sampler(self, method: Method, sets: Sequence[Events], stack: ExitStack) -> Sampler:
        if method.prepare is None:
            program = GoProgram(self.program, sets[0].n, method.go_flags)
            stack.callback(program.close)
            return program.sample
        return sampler(*map(method.prepare, sets), before=partial(libmode.set_threads, method.threads))


def table(benchmark: Benchmark, n: int) -> str:
    """The results at n events as text, the slowest first."""
    rows = sorted(((t, name) for (name, size), t in benchmark.times.items() if size == n), key=lambda r: -r[0].median)
    reference = benchmark.times[PLAIN_ORDER_2, n].median
    lines = [
        f"n = {n:,}".ljust(44) + f"{'median [ms]':>12} {'min [ms]':>12} {'ratio':>9} {'extra [MB]':>11} {'calls':>6}"
    ]
    for timing, name in rows:
        extra = benchmark.extra.get((name, n))
        lines.append(
            f"  {name:<42}{1e3 * timing.median:>12.4f} {1e3 * timing.fastest:>12.4f} {timing.median / reference:>9.2f} "
            f"{'-' if extra is None else f'{extra / 1e6:.2f}':>11} {timing.calls:>6} {timing.note}"
        )
    return "\n".join(lines)


def write_csv(benchmark: Benchmark, path: Path) -> None:
    with path.open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(
            ["method", "n", "median_s", "min_s", "calls", "ratio_to_numpy_plain_order_2", "extra_bytes", "note"]
        )
        for (name, n), t in benchmark.times.items():
            ratio = t.median / benchmark.times[PLAIN_ORDER_2, n].median
            rows.writerow([name, n, t.median, t.fastest, t.calls, ratio, benchmark.extra.get((name, n)), t.note])


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.run", description=__doc__.split("\n")[0])
    parser.add_argument("--sizes", type=float, nargs="+", metavar="N", help="numbers of events, such as 1e3 1e6")
    parser.add_argument("--quick", action="store_true", help="small sizes, few repeats: a look, not a measurement")
    parser.add_argument("--methods", nargs="+", metavar="NAME", choices=METHODS, help="only these, and only times")
    parser.add_argument("--output", type=Path, default=Path("build/bench"), metavar="DIR")
    parser.add_argument("--limit", type=float, metavar="S", help="longest call of a method in seconds: 30, quick 2")
    chosen = parser.parse_args()
    if chosen.limit is None:
        chosen.limit = 2.0 if chosen.quick else 30.0
    return chosen


def main() -> None:
    chosen = arguments()
    sizes = sorted(map(int, chosen.sizes)) if chosen.sizes else QUICK_SIZES if chosen.quick else SIZES
    methods = [METHODS[name] for name in dict.fromkeys([PLAIN_ORDER_2, *(chosen.methods or METHODS)])]
    chosen.output.mkdir(parents=True, exist_ok=True)
    described = machine.describe()
    print(*(f"{name}: {value}" for name, value in described.items()), sep="\n")

    with tempfile.TemporaryDirectory() as directory:
        program = Path(directory) / "gobench"
        go_program.build(program)
        benchmark = Benchmark(program, methods, budget=3 if chosen.quick else 40, limit=chosen.limit)
        benchmark.warm_up()
        for n in tqdm(sizes, desc="sizes", unit="size"):
            benchmark.run(n)
            tqdm.write("\n" + table(benchmark, n))
            write_csv(benchmark, chosen.output / "times.csv")  # so far, should the next size fail
    libmode.set_threads(0)
    medians = {key: timing.median for key, timing in benchmark.times.items()}
    print("", *summary.sorts(medians, machine.processor()), sep="\n")
    if chosen.methods:
        return
    steps = training_step.measure(budget=2 if chosen.quick else 20)
    print("\nTraining step\n" + training_step.table(steps))

    print("\nWhere methods stopped")
    print(*(f"  {name} {why}" for name, why in benchmark.stopped.items()), sep="\n")
    print("Extra memory:", "; ".join(sorted(benchmark.memory_method)))

    results = {
        "machine": described,
        "memory_measured_by": sorted(benchmark.memory_method),
        "stopped": benchmark.stopped,
        "times": [
            {"method": name, "n": n, **vars(timing), "extra_bytes": benchmark.extra.get((name, n))}
            for (name, n), timing in benchmark.times.items()
        ],
        "training_step": {batch: vars(measured) for batch, measured in steps.items()},
    }
    (chosen.output / "results.json").write_text(json.dumps(results, indent=1) + "\n")
    figure = plots.write(benchmark.times, benchmark.extra, chosen.output)
    print("\nWritten:", chosen.output / "times.csv", chosen.output / "results.json", figure)


if __name__ == "__main__":
    main()
