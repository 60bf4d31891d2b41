"""Writes the tables of docs/performance.md and docs/scaling.md from bench/results: ``python -m bench.summary``.

Replaces what stands between the marks there; a test checks that nobody edits it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .methods import BOUNDS, FLOAT_SORT, MODELOSS, ORDER_2, PLAIN_ORDER_2, PLAIN_TORCH, STRONG

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "bench" / "results" / "results.json"
BEGIN, END = "<!-- made by python -m bench.summary -->\n", "<!-- end -->\n"

COLUMNS = {
    PLAIN_ORDER_2: "libmode, NumPy [ms]",
    PLAIN_TORCH: "from PyTorch",
    "np.argsort": "np.argsort",
    STRONG: "strong PyTorch",
    FLOAT_SORT: "with torch.sort",
    MODELOSS: "modeloss 0.1.0",
    "DisCo": "DisCo",
}
SORTS = ("np.sort", "np.argsort", "torch.sort")  # of the scores; the first gives no indices

#: The columns of the tables of a GPU.
ON_GPU = {
    "events": "events",
    "loss, core": "MoDeLoss, core",
    "loss, device": "device",
    "loss, graph": "graph",
    "layer, core": "MoDeConstraint, core",
    "sort": "torch.sort",
}
STEPS = {
    "network": "network",
    "batch": "batch",
    "without": "without",
    "without, graph": "without, graph",
    "loss": "MoDeLoss, device",
    "loss, graph": "graph",
    "layer, core": "MoDeConstraint, core",
}

Times = Mapping[tuple[str, int], float]  #: seconds by method and number of events


def pages() -> dict[Path, str]:
    """The tables of each page as Markdown."""
    results, of_device = (json.loads(path.read_text()) for path in (RESULTS, RESULTS.with_name("device.json")))
    times = {(row["method"], row["n"]): row["median"] for row in results["times"]}
    return {
        ROOT / "docs" / "performance.md": _lines(_sizes(times), _options(times), _steps(results)),
        ROOT / "docs" / "scaling.md": _lines(_events(of_device), _device_steps(of_device)),
    }


def _lines(*tables: list[str]) -> str:
    return "\n".join(line for table in tables for line in (*table, ""))


def _sizes(times: Times) -> list[str]:
    sizes = sorted({n for _, n in times})
    lines = [_row("events", *COLUMNS.values()), _row(*["---"] * (len(COLUMNS) + 1))]
    for n in sizes:
        plain = times[PLAIN_ORDER_2, n]
        rivals = [_ratio(times.get((name, n)), plain) for name in COLUMNS if name != PLAIN_ORDER_2]
        lines.append(_row(f"{n:,}", f"{1e3 * plain:.3g}", *rivals))
    return ["The paper's formula, times relative to libmode from NumPy:", "", *lines]


def sorts(times: Times, processor: str) -> list[str]:
    """Loss and gradient of the paper's formula compared with sorts, as lines of Markdown."""
    sizes = sorted({n for name, n in times if name in SORTS})
    lines = [_row("libmode, NumPy, over", *(f"{n:,}" for n in sizes)), _row(*["---"] * (len(sizes) + 1))]
    for name in SORTS:
        lines.append(_row(name, *(_ratio(times[PLAIN_ORDER_2, n], times.get((name, n))) for n in sizes)))
    return [f"Loss and gradient relative to sorts of the float32 scores alone, on {processor}:", "", *lines]


def _options(times: Times) -> list[str]:
    names = {"the defaults": ORDER_2}
    names |= {name: f"{PLAIN_ORDER_2} {name}" for name in (*BOUNDS, "weights", "float64", "1 thread", "256 bins")}
    sizes = (10**4, 10**5, 10**6)
    lines = [_row("order 2 with", *(f"{n:,}" for n in sizes)), _row(*["---"] * (len(sizes) + 1))]
    for name, method in names.items():
        if not any((method, n) in times for n in sizes):
            continue  # newer than the results
        lines.append(_row(name, *(_ratio(times.get((method, n)), times[PLAIN_ORDER_2, n]) for n in sizes)))
    return ["The same for options, relative to the paper's formula alone:", "", *lines]


def _steps(results: dict[str, Any]) -> list[str]:
    lines = [_row("batch", "step [ms]", "with MoDeLoss [ms]", "share", "MoDeConstraint, more"), _row(*["---"] * 5)]
    for batch, m in results["training_step"].items():
        times = (f"{1e3 * m[name]:.3g}" for name in ("plain", "with_mode"))
        lines.append(_row(f"{int(batch):,}", *times, *(f"{m[name]:.1%}" for name in ("share", "constraint"))))
    return ["A training step of the paper's 3 x 64 network, half of the batch background:", "", *lines]


def _events(results: dict[str, Any]) -> list[str]:
    head = f"Forward and backward at order 1 with labels and weights, in ms, on an {results['device']}:"
    return [head, "", *_of_rows(ON_GPU, results["events"])]


def _device_steps(results: dict[str, Any]) -> list[str]:
    head = "A training step of the paper's network and of a transformer of 2 million parameters:"
    return [head, "", *_of_rows(STEPS, results["steps"])]


def _of_rows(columns: Mapping[str, str], rows: list[dict[str, Any]]) -> list[str]:
    lines = [_row(*columns.values()), _row(*["---"] * len(columns))]
    lines += [_row(*(_cell(row[name]) for name in columns)) for row in rows]
    return lines


def _cell(value: str | float) -> str:
    if isinstance(value, str):
        return value
    return f"{value:,.0f}" if value >= 1000 or isinstance(value, int) else f"{value:.3g}"


def _ratio(top: float | None, bottom: float | None) -> str:
    return "-" if top is None or bottom is None else f"{top / bottom:.3g}"


def _row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


def main() -> None:
    for page, tables in pages().items():
        before, _, rest = page.read_text().partition(BEGIN)
        _, _, after = rest.partition(END)
        page.write_text(before + BEGIN + tables + END + after)


if __name__ == "__main__":
    main()
