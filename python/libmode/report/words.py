"""Numbers and results of tests as text for people."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
HINT, CLEAR = 0.05, 0.001  # p-values: below the first a hint of a dependence, below the second no doubt


def short(value: float | None, digits: int = 3) -> str:
    """Three digits, and all of a whole number: 0.612, 28.0, 1234, 1.20×10⁻⁷; a dash for an unknown number."""
    if value is None or value != value:
        return "–"
    if value == 0:
        return "0"
    size = abs(value)
    if size >= 1e6 or size < 1e-4:
        mantissa, exponent = f"{value:.{digits - 1}e}".split("e")
        return f"{mantissa}×10{str(int(exponent)).translate(RAISED)}"
    if size >= 10 ** (digits - 1):
        return f"{value:.0f}"
    return f"{value:#.{digits}g}".rstrip(".")  # 99.96 is 100, not 100.


def percent(value: float | None) -> str:
    """A measured fraction with three digits: 50.0 %, 1.27 %."""
    return "–" if value is None or value != value else f"{short(100 * value)} %"


def efficiency(value: float) -> str:
    """A requested fraction as it is: 50 %, 0.25 %."""
    return f"{100 * value:g} %"


def p_value(value: float) -> str:
    """0.31, or 2.1×10⁻⁶: what :mod:`libmode.metrics` gives as 0 lies below 1e-300."""
    return "< 10⁻³⁰⁰" if value == 0 else short(value, 2)


def signal_of(quoted: dict[str, float]) -> str:
    """A fitted signal, its standard error and their ratio: -12 ± 25 (-0.5 σ)."""
    signal, error = quoted["signal"], quoted["error"]
    return f"{short(signal)} ± {short(error)} ({signal / error:.1f} σ)".replace("-", "−")


def unknown(numbers: dict[str, Any]) -> Iterator[tuple[str, str, str]]:
    """What is not known: of which score and working point, what, and the reason."""
    yield from (("", *item) for item in numbers["unknown"].items())
    for score in numbers["scores"]:
        yield from ((score["score"], *item) for item in score["unknown"].items())
        for point in score["working_points"]:
            where = f"{score['score']} at {efficiency(point['wanted'])}"
            yield from ((where, *item) for item in point["unknown"].items())


def signals(numbers: dict[str, Any]) -> Iterator[tuple[str, str, str, str, str]]:
    """A row for each signal that the user asks for: score, working point, mass, width and what the fit finds."""
    fit = numbers["fit"]
    if not (fit and fit["rows"]):
        return
    rows = [("", "no cut", fit["before"])]
    rows += [
        (score["score"], efficiency(point["wanted"]), point["spurious_signal"])
        for score in numbers["scores"]
        for point in score["working_points"]
    ]
    widths = fit["signal_width"]
    for name, at, found in rows:
        for k, mass in enumerate(fit["signal_mass"]):
            width = widths[k] if isinstance(widths, list) else widths
            own = found and {key: found[key][k] for key in ("signal", "error")}
            text = "–" if not own or own["signal"] is None else signal_of(own)
            yield name, at, short(mass), short(width), text


def level(point: dict[str, Any]) -> str:
    """The result of the test of a working point, in a word."""
    if point["dependence"] is None or point["residual"] is None:
        return "not known"
    p = point["dependence"].p_value
    return "dependent" if p < CLEAR else "hint" if p < HINT else "none seen"
