"""What a working point comes to, in a sentence."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

from .judge import Point
from .numbers import efficiency, p_value, percent, short, signal_of

HINT, CLEAR = 0.05, 0.001  # p-values: a hint of a dependence below the one, no doubt about it below the other
LARGE = 3.0  # a spurious signal that a search would take for evidence, in its standard errors


class Level(Enum):
    """How the test of a working point came out; the value is what the page calls it."""

    FLAT = "none seen"
    HINT = "hint"
    DEPENDENT = "dependent"
    UNKNOWN = "not known"


class Verdict(NamedTuple):
    """What is said of a working point."""

    level: Level
    sentence: str


def verdict(point: Point, order: int, labelled: bool) -> Verdict:
    """Of one working point: what it keeps, whether that depends on mass and by how much, and what a search would find.

    order : the degree of the polynomial in mass that the efficiency may follow
    labelled : whether ``point.wanted`` is an efficiency of signal, not of background
    """
    level = _level(point)
    parts = [_kept(point, labelled), _dependence(point, level, order), _jsd(point), _spurious(point)]
    return Verdict(level, "; ".join(part for part in parts if part) + ".")


def _level(point: Point) -> Level:
    if point.dependence is None or point.residual is None:
        return Level.UNKNOWN
    p = point.dependence.p_value
    return Level.DEPENDENT if p < CLEAR else Level.HINT if p < HINT else Level.FLAT


def _kept(point: Point, labelled: bool) -> str:
    if not labelled:
        return (
            f"At score ≥ {short(point.threshold, 4)}, {percent(point.background_efficiency)} of the background are kept"
        )
    at = f"At {efficiency(point.wanted)} signal efficiency (score ≥ {short(point.threshold, 4)})"
    if point.rejection is None:
        return f"{at} no background is left"
    return f"{at} one background event in {short(point.rejection)} is kept"


def _dependence(point: Point, level: Level, order: int) -> str:
    if level is Level.UNKNOWN or point.residual is None or point.dependence is None:
        reason = point.unknown.get("dependence") or point.unknown.get("residual", "")
        return f"whether its efficiency depends on mass is not known ({reason})"
    beyond = "" if order == 0 else " beyond a straight line" if order == 1 else f" beyond a polynomial of order {order}"
    value, flat = p_value(point.dependence.p_value), point.residual.flatness
    p = f"p {value}" if value.startswith("<") else f"p = {value}"
    said = {
        Level.FLAT: "no dependence on mass{} is seen",
        Level.HINT: "there is a hint of a dependence on mass{}",
        Level.DEPENDENT: "the efficiency depends on mass{}",
    }[level].format(beyond)
    return f"{said} ({p}): its residuals are {percent(flat.rms)} rms, where chance makes {percent(flat.expected)}"


def _jsd(point: Point) -> str:
    if point.inverse_jsd is None or point.inverse_jsd_ceiling is None:
        return ""
    return f"1/JSD is {short(point.inverse_jsd)} where a mass-blind selection has {short(point.inverse_jsd_ceiling)}"


def _spurious(point: Point) -> str:
    if point.quoted is None:
        return ""
    mass, signal, error = point.quoted
    claim = ", which a search could mistake for a signal" if signal > LARGE * error else ""
    return f"at mass {short(mass)} a fit finds a signal of {signal_of(point.quoted)}{claim}"
