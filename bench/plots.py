"""Draws time and memory against the number of events, as in the appendix of arXiv:2010.09745."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from studies.drawing import OKABE_ITO, style

from .methods import FLOAT_SORT, MODELOSS, PLAIN_GO, PLAIN_ORDER_2, PLAIN_TORCH, STRONG
from .timing import Timing

# libmode is drawn full, peers dashed, sorts dotted.
CURVES = {
    PLAIN_ORDER_2: ("libmode, NumPy", OKABE_ITO["vermillion"], "o", "-"),
    PLAIN_TORCH: ("libmode, PyTorch", OKABE_ITO["orange"], "s", "-"),
    PLAIN_GO: ("libmode, Go", OKABE_ITO["reddish purple"], "D", "-"),
    MODELOSS: ("modeloss 0.1.0", OKABE_ITO["blue"], "v", "--"),
    STRONG: ("PyTorch, radix sort", OKABE_ITO["bluish green"], "^", "--"),
    FLOAT_SORT: ("PyTorch, torch.sort", OKABE_ITO["sky blue"], "<", "--"),
    "DisCo": ("DisCo", "black", "P", "--"),
    "hep_ml flatness": ("hep_ml flatness", "#888888", "X", "--"),
    "np.argsort": ("np.argsort", "black", "none", ":"),
    "torch.sort": ("torch.sort", "#888888", "none", ":"),
}

# Below so many bytes, the pages of code that a call touches take more memory than the call.
RESOLUTION = 100_000


def write(
    times: Mapping[tuple[str, int], Timing], extra: Mapping[tuple[str, int], int | None], directory: Path
) -> Path:
    """Writes time_and_memory.png; returns its path."""
    milliseconds = {key: 1e3 * timing.median for key, timing in times.items()}
    megabytes = {key: size / 1e6 for key, size in extra.items() if size and size > RESOLUTION}
    with style():
        figure = Figure(figsize=(20, 9), layout="constrained")
        left, right = figure.subplots(1, 2)
        _draw(left, milliseconds, "Time of loss + gradient [ms]")
        _draw(right, megabytes, "Memory above inputs and outputs [MB]")
        handles, labels = left.get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside right center", fontsize=18)
        path = directory / "time_and_memory.png"
        figure.savefig(path, dpi=100)
    return path


def _draw(axes: Axes, values: Mapping[tuple[str, int], float], title: str) -> None:
    for name, (label, color, marker, line) in CURVES.items():
        points = sorted((n, value) for (method, n), value in values.items() if method == name)
        if points:
            axes.plot(*zip(*points, strict=True), label=label, color=color, marker=marker, ls=line, ms=9, lw=2)
    axes.set(xscale="log", yscale="log", xlabel="Number of events", ylabel=title)
    axes.grid(alpha=0.3)
