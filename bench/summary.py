"""Writes the tables of docs/scaling.md from bench/results: ``python -m bench.summary``.

Replaces what stands between the marks there; a test checks that nobody edits it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .methods import MODELOSS, PLAIN_ORDER_2, PLAIN_TORCH, STRONG

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "bench" / "results" / "results.json"
PAGE = ROOT / "docs" / "scaling.md"
#: What stands before and after the tables.
MARKS = {
    "cpu": ("<!-- made by python -m bench.summary -->\n", "<!-- end -->\n"),
    "gpu": ("<!-- of a GPU, made by python -m bench.summary -->\n", "<!-- end of a GPU -->\n"),
}

COLUMNS = {
    PLAIN_ORDER_2: "libmode, NumPy [ms]",
    PLAIN_TORCH: "from PyTorch",
    STRONG: "strong PyTorch",
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
    "sort": "torch.sort",
}

Times = Mapping[tuple[str, int], float]  #: seconds by method and number of events


def tables() -> dict[str, str]:
    """The tables as Markdown, by the names of their marks."""
    results, of_device = (json.loads(path.read_text()) for path in (RESULTS, RESULTS.with_name("device.json")))
    times = {(row["method"], row["n"]): row["median"] for row in results["times"]}
    return {
        "cpu": f"Commit {results['machine']['commit']}. {_lines(_sizes(times), _steps(results))}",
        "gpu": _lines(_events(of_device)),
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


def _steps(results: dict[str, Any]) -> list[str]:
    lines = [_row("batch", "step [ms]", "with MoDeLoss [ms]", "share"), _row(*["---"] * 4)]
    for batch, m in results["training_step"].items():
        times = (f"{1e3 * m[name]:.3g}" for name in ("plain", "with_mode"))
        lines.append(_row(f"{int(batch):,}", *times, f"{m['share']:.1%}"))
    return ["A training step of the paper's 3 x 64 network, half of the batch background:", "", *lines]


def _events(results: dict[str, Any]) -> list[str]:
    head = f"Forward and backward at order 1 with labels and weights, in ms, on an {results['device']}:"
    return [head, "", *_of_rows(ON_GPU, results["events"])]


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
    for name, text in tables().items():
        begin, end = MARKS[name]
        before, _, rest = PAGE.read_text().partition(begin)
        _, _, after = rest.partition(end)
        PAGE.write_text(before + begin + text + end + after)


if __name__ == "__main__":
    main()
