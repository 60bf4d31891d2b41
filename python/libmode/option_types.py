"""The options of the losses, with their types: one row for each, and nowhere else in Python.

Limits and defaults are those of the core. The types say how a value is read, and the
sentences are the list of options in ``help(libmode.mode_loss)``.
"""

# Annotations stay objects here: libmode._options reads the types.
from collections.abc import Iterable, Sequence
from typing import Literal, TypedDict

Loss = Literal["mode", "disco", "flatness"]


class LossOptions(TypedDict, total=False):
    """The options of the MoDe loss, as in mode.h."""

    order: int
    """Degree of the polynomial dependence on mass that costs nothing, 0 to 16; 0 by default."""
    bins: int | Sequence[int | None] | None
    """Number of mass bins. Where it is None or not given, it is the smaller of 32 and what
    the number of events allows; docs/options.md has the rule. Of several variables one
    number for all, or one for each."""
    binning: Literal["quantile", "uniform", "edges", "values"]
    """Equal numbers of events, which is the default, equal widths, given by ``edges``, or a
    bin for each mass that occurs, "values"."""
    edges: Iterable[float | Iterable[float]] | None
    """Increasing edges of the mass bins; of several variables a sequence for each. Then
    ``binning`` is left out or "edges"."""
    mass_range: tuple[float, float] | Sequence[tuple[float, float] | None] | None
    """Events outside take no part. By default from the lowest to the highest mass. Of
    several variables a pair, or None, for each."""
    joint: bool
    """Bin several variables of mass together, in cells, and let every polynomial in them of
    total degree up to ``order`` cost nothing. False, the default: the mean of their losses."""
    missing: Literal["error", "ignore"]
    """A mass that is NaN is an error, the default, or as one outside ``mass_range``."""
    basis: Literal["legendre", "bspline"]
    """What costs nothing: polynomials in mass, the default, or B-splines of ``degree`` with
    ``knots``, for which ``order`` is left out."""
    degree: int | None
    """Degree of the B-splines, 0 to 5; 3 by default."""
    knots: Iterable[float | Iterable[float]] | None
    """Increasing knots of the B-splines, inside the mass range; none by default. Of several
    variables a sequence for each. Then ``basis`` is left out or "bspline"."""
    max_slope: float | None
    """Bound on the slope c_1 relative to what ``slope_of`` says; order >= 1; none by default."""
    slope_of: Literal["rejected", "selected"]
    """What ``max_slope`` is relative to: the fraction of background below the score, "rejected", the default, or above
    it, "selected", the efficiency."""
    monotonic: bool
    """Keep the allowed dependence monotonic in mass; order >= 2; False by default."""
    moments: Literal["quadrature", "projection"]
    """The least-squares fit, the default, for which a polynomial response has loss exactly 0
    on any bins, or the paper's sum over bins, "quadrature"."""
    unbiased: bool
    """Subtract what the finite number of events adds to the loss, so that small batches
    work: the default. The result may be negative. False: the paper's formula."""
    slope_penalty: float
    """Adds ``slope_penalty * c_1^2`` to the integrand; order >= 1; 0 by default."""
    score_range: tuple[float, float] | None
    """Limits of the integral, (0, 1) by default; None: from the lowest to the highest score."""
    reduction: Literal["mean", "sum"]
    """Divide the sum over bins by their number, the default, or not (the paper's formula)."""
    background_label: int | Sequence[int]
    """Only events whose label is this take part, 0 by default. With several, the loss is the
    sum over labels, each with its own bins. Without labels every event takes part."""


class DisCoOptions(TypedDict, total=False):
    """The options that DisCo takes. Its ``unbiased`` is False by default."""

    unbiased: bool
    background_label: int | Sequence[int]


class FlatnessOptions(TypedDict, total=False):
    """The options that the flatness loss takes, which say what is binned."""

    bins: int | Sequence[int | None] | None
    binning: Literal["quantile", "uniform", "edges", "values"]
    edges: Iterable[float | Iterable[float]] | None
    mass_range: tuple[float, float] | Sequence[tuple[float, float] | None] | None
    joint: bool
    missing: Literal["error", "ignore"]
    score_range: tuple[float, float] | None
    background_label: int | Sequence[int]
