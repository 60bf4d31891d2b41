"""The table of the demo, as text and as JSON."""

from __future__ import annotations

from typing import Any

from .measure import EFFICIENCIES, MASS_EDGES, Performance


def as_text(results: dict[str, Performance]) -> str:
    percent = "".join(f"{e:>9.0%}" for e in EFFICIENCIES)
    wide = "".join(f"{e:>17.0%}" for e in EFFICIENCIES)
    lines = [
        f"{'':13} {'':6}   {'background rejection':^27}   {'flatness: rms (statistically expected)':^51}",
        f"{'classifier':13} {'AUC':>6}   {percent}   {wide}",
    ]
    for name, p in results.items():
        rejection = "".join(f"{s.rejection:9.2f}" for s in p.selections)
        flatness = "".join(f"{f'{s.residual:.4f} ({s.expected:.4f})':>17}" for s in p.selections)
        lines.append(f"{name:13} {p.auc:6.4f}   {rejection}   {flatness}")
    return "\n".join(lines)


def as_dict(results: dict[str, Performance]) -> dict[str, Any]:
    """The table and the plotted rates, for JSON."""
    return {
        "mass_edges": MASS_EDGES.tolist(),
        "classifiers": {name: of_one(performance) for name, performance in results.items()},
    }


def of_one(performance: Performance) -> dict[str, Any]:
    """One row of the table."""
    return {
        "auc": performance.auc,
        "selections": [
            {
                "signal_efficiency": s.efficiency,
                "threshold": s.threshold,
                "background_rejection": s.rejection,
                "flatness": s.residual,
                "flatness_expected": s.expected,
                "false_positive_rate": s.rate.tolist(),
                "false_positive_rate_error": s.error.tolist(),
            }
            for s in performance.selections
        ],
    }
