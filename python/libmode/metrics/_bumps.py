"""The spurious signal of a check: where it is looked for, and the fit of a template."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.polynomial.legendre import legvander

from .._read import vector
from ._bins import Doubles
from ._sample import Histogram, Sample
from ._search import CORE, FEWEST, NARROW, OF_RANGE
from ._settings import Settings
from ._table import Table
from ._verdict import Null, Probability, two_sided, variance
from .bias import Background

SOME = 10_000  # events that give quantiles


class Bump(NamedTuple):
    """The signal that the fit of a template finds in selected background, where there is none."""

    signal_mass: float
    signal: float  #: fitted signal, a sum of weights
    error: float  #: its standard error in this sample
    significance: float  #: in errors of a search with ``tolerance`` events
    height: float  #: signal over the background under it
    height_error: float
    p_value: Probability


def sought(settings: Settings, events: Sample) -> tuple[Doubles, Doubles] | None:
    """Masses and widths of the signals that are looked for; None for several masses."""
    if events.mass.shape[1] > 1:
        if settings.signal_mass is not None:
            raise ValueError(f"signal_mass with {events.mass.shape[1]} masses: a spurious signal needs one mass")
        return None
    name = "bins" if settings.mass_range is None else "mass_range"
    limited = name == "mass_range" or np.ndim(settings.bins)
    low, high = vector(name, getattr(settings, name))[[0, -1]] if limited else (-np.inf, np.inf)
    every = events.mass[:, 0]
    inside = (every >= low) & (every <= high) & np.isfinite(every)
    background, of_signal = every[inside & ~events.signal].astype(float), every[inside & events.signal].astype(float)
    if not len(background):
        return None
    if isinstance(events, Histogram):
        axis, of_signal = events.axes[0], of_signal[:0]
        ends = np.interp([0.025, 0.975], np.append(0, events.where(inside).shares(0)), axis)
        limits = float(max(low, axis[0])), float(min(high, axis[-1]))
    else:
        ends = np.quantile(background[:: max(1, len(background) // SOME)], [0.025, 0.975])
        limits = float(background.min()), float(background.max())
    span = float(ends[1] - ends[0])
    if not span > 0:
        return None
    masses, widths = settings.signal_mass, settings.signal_width
    if masses is not None:
        for k, one in enumerate(masses.tolist()):
            if not limits[0] < one < limits[1]:
                name = f"signal_mass[{k}]" if len(masses) > 1 else "signal_mass"
                raise ValueError(
                    f"{name} = {one:g}: expected a mass of the background, {limits[0]:.6g} to {limits[1]:.6g}"
                )
    width = span / OF_RANGE
    if len(of_signal) >= FEWEST:
        first, middle, last = np.quantile(of_signal[:: max(1, len(of_signal) // SOME)], [CORE[0], 0.5, CORE[1]])
        own = float(last - first) / 2
        if 0 < own <= span / NARROW:
            width = own
            if masses is None and limits[0] < middle < limits[1]:
                masses = np.array([float(middle)])
    if widths is not None:
        width = float(widths[0])
    if masses is None:  # a scan
        first, last = ends[0] + 2 * width, ends[1] - 2 * width
        masses = np.linspace(first, last, max(int((last - first) / (2 * width) + 1e-9) + 1, 1))  # 9 in any unit
    if widths is None or len(widths) == 1:
        widths = np.full(len(masses), width)
    return masses, widths


def bumps(
    table: Table, null: Null, settings: Settings, signals: tuple[Doubles, Doubles], share: float, taught: float
) -> list[Bump]:
    """The spurious signals at those masses that lie in the bins; with a shape other than the template by iminuit.

    ``share`` is N / n, ``taught`` is n / T, with n events here, N in a search and T in the training.
    """
    if settings.background is None:
        return template(table, null, *signals, share, taught)
    assert table.edges is not None
    cut, fitted = null.cuts[0], []
    weight, square = (
        np.stack([each[:, cut:].sum(axis=1), each[:, :cut].sum(axis=1)]) for each in (table.weight, table.square)
    )
    fit, above = Background(table.edges, weight, square, settings.order, {"background": settings.background}), weight[0]
    for mean, width in zip(*(each.tolist() for each in signals), strict=True):
        if not table.edges[0] < mean < table.edges[-1]:
            continue
        bias = fit.signal("signal_mass", mean, width)
        near = np.exp(-0.5 * (((table.edges[1:] + table.edges[:-1]) / 2 - mean) / width) ** 2)
        under = float(near @ above) / float(near @ near) * float(near.sum())
        if math.isfinite(bias.error) and under > 0:
            p = two_sided(bias.significance / math.sqrt(1 + taught))
            fitted.append(_bump(mean, bias.signal, bias.error, under, p, bias.significance * math.sqrt(share)))
    return fitted


def template(table: Table, null: Null, masses: Doubles, widths: Doubles, share: float, taught: float) -> list[Bump]:
    """The signals that a fit of (spectrum before the cut) x polynomial + Gaussian finds; one least squares for each."""
    edges = table.edges
    assert edges is not None
    used = (table.events > 0) & (table.square.sum(axis=1) > 0)
    ratio = null.square / null.table.events
    inside = np.repeat(ratio, np.diff(table.bins))
    square = (inside * table.events)[used]
    design, instrument = table.legendre[used, : null.terms], table.instrument[used, : null.terms]
    x = (edges[1:] + edges[:-1] - edges[0] - edges[-1]) / (edges[-1] - edges[0])
    basis = legvander(x, null.terms - 1)[used]
    coarse = np.repeat(np.arange(len(null.weight)), np.diff(table.bins))[used]
    null_efficiency = np.maximum(null.expected[:, 0] / null.weight, 1e-300)[coarse]
    selected = table.weight[used, null.cuts[0] :].sum(axis=1)
    total = table.weight[used].sum(axis=1)
    heavy, light = (
        float(squares) / max(abs(float(sums)), 1e-300)
        for squares, sums in (
            (null.squares_selected[:, 0].sum(), null.selected[:, 0].sum()),
            (table.square.sum() - null.squares_selected[:, 0].sum(), (null.weight - null.selected[:, 0]).sum()),
        )
    )
    mean = null.selected[:, 0].sum() / null.weight.sum()
    fitted = []
    for at, width in zip(masses.tolist(), widths.tolist(), strict=True):
        if not edges[0] < at < edges[-1]:
            continue
        steps = np.array([math.erf((edge - at) / (math.sqrt(2) * width)) / 2 for edge in edges.tolist()])
        shape = np.diff(steps)[used]
        columns = np.column_stack([design, shape]), np.column_stack([instrument, shape])
        coefficients, of_squares = null.coefficients[:, 0], null.of_squares[coarse, 0]
        for _ in range(2):  # a bump should not raise the errors that its absence expects
            efficiency = np.clip(basis @ coefficients, 0.05 * mean, 1 - 0.05 * (1 - mean))
            fraction = np.clip(of_squares * efficiency / null_efficiency, 0, 1)
            spread = variance(square, fraction, efficiency)
            fit = _fit(*columns, spread)
            if fit is None:
                break
            coefficients = (fit @ selected)[:-1]
        poisson = np.maximum(square * fraction, 1e-9 * square.max())  # the variance of a search
        searched = _fit(*columns, poisson)
        under = float(shape @ (efficiency * total)) / max(float(shape @ shape), 1e-300)
        if fit is None or searched is None or not under > 0 or shape.sum() < 1e-3:  # between masses of few values
            continue
        signal, error = float(fit[-1] @ selected), math.sqrt(float(fit[-1] ** 2 @ spread))
        third = square * (fraction * heavy * (1 - efficiency) ** 3 - (1 - fraction) * light * efficiency**3)
        skew = float(np.sum(fit[-1] ** 3 * third)) / error**3
        p = two_sided(skewed(signal / error, skew) / math.sqrt(1 + taught))
        there = signal / math.sqrt(float(searched[-1] ** 2 @ poisson)) * math.sqrt(share)
        fitted.append(_bump(at, signal, error, under, p, there))
    return fitted


def _bump(at: float, signal: float, error: float, under: float, p: float, there: float) -> Bump:
    return Bump(at, signal, error, there, signal / under, error / under, Probability(p, two_sided(there)))


def _fit(design: Doubles, instrument: Doubles, variances: Doubles) -> Doubles | None:
    """The parameters per selected weight of each row, by least squares with instruments, (parameters, rows).

    None where the other parameters can take the shape of the last one, the signal.
    """
    root = np.sqrt(variances)[:, None]
    q, r = np.linalg.qr(instrument / root)
    if not abs(r[-1, -1]) > 1e-6 * np.linalg.norm(r[:, -1]):
        return None
    return np.linalg.solve(q.T @ (design / root), q.T / root.T)


def skewed(significance: float, skew: float) -> float:
    """The significance of a sum with this skewness: the root of the likelihood ratio of a Poisson distribution."""
    if abs(skew) < 1e-6:
        return significance
    mean, side = 1 / skew**2, math.copysign(1, skew)
    seen = mean + side * significance * math.sqrt(mean)
    ratio = seen * math.log(seen / mean) - (seen - mean) if seen > 0 else mean
    return math.copysign(math.sqrt(max(2 * ratio, 0.0)), significance)
