"""The options of the losses with their types: the only list of them in Python.

The core has the limits and defaults. The sentences appear in ``help(libmode.mode_loss)``.
"""

# Annotations stay objects here: libmode._options reads the types.
import typing
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypedDict

if TYPE_CHECKING:
    from typing_extensions import Unpack as Unpack
else:  # Python 3.10 has it only in typing_extensions, which may not be installed
    Unpack = getattr(typing, "Unpack", dict)

Loss = Literal["mode", "disco"]


class LossOptions(TypedDict, total=False):
    """The options of the MoDe loss, as in mode.h."""

    order: int
    """Degree of the polynomial in mass that the background efficiency may follow at no cost, 0 to 16: 0 a constant, 1 a
    line, 2 a parabola. There is no default: the background estimate of the analysis decides."""
    bins: int | Sequence[int | None] | None
    """Number of mass bins. By default, or if None, one for 8 effective events, up to 32. With several variables, one
    number for all or one for each."""
    binning: Literal["quantile", "uniform", "edges"]
    """Bins with equal numbers of events (the default), with equal widths, or with the given ``edges``."""
    edges: Iterable[float | Iterable[float]] | None
    """Increasing edges of the mass bins; with several variables, a sequence for each. Leave ``binning`` out, or
    set it to "edges"."""
    mass_range: tuple[float, float] | Sequence[tuple[float, float] | None] | None
    """Events outside take no part. By default from the lowest to the highest mass. With several variables, a pair
    or None for each."""
    joint: bool
    """Bin several variables of mass together, in cells. Every polynomial in them of total degree up to ``order``
    then costs nothing. By default False: the mean of the losses of the variables."""
    missing: Literal["error", "ignore"]
    """A NaN mass is an error (the default), or counts as outside ``mass_range``."""
    max_slope: float | None
    """Bound on the slope c_1, relative to the fraction that ``slope_of`` names; needs order >= 1; none by default."""
    slope_of: Literal["rejected", "selected"]
    """The fraction to which ``max_slope`` is relative: the background below the score, "rejected" (the default),
    or above it, "selected" (the efficiency)."""
    monotonic: bool
    """Keep the allowed dependence monotonic in mass; needs order >= 2; False by default."""
    moments: Literal["projection", "quadrature"]
    """The least-squares fit (the default), which gives a polynomial response a loss of exactly 0 on any bins, or
    the paper's sum over bins, "quadrature"."""
    unbiased: bool
    """Subtract the bias of a finite number of events (the default). Small batches then work, and the loss may be
    negative. False is the paper's formula."""
    slope_penalty: float
    """Adds ``slope_penalty * c_1^2`` to the integrand; needs order >= 1; 0 by default."""
    score_range: tuple[float, float] | None
    """Limits of the integral, (0, 1) by default. None means from the lowest to the highest score."""
    reduction: Literal["mean", "sum"]
    """Divide the sum over bins by their number (the default), or not (the paper's formula)."""
    background_label: int | Sequence[int]
    """Only events with this label take part, 0 by default. With several labels, the loss is the sum over labels,
    each with its own bins. Without labels, every event takes part."""


class LayerOptions(LossOptions, total=False):
    """The options of MoDeConstraint: those of its MoDe loss, and its own."""

    strength: float | None
    """K, the push over the gradient. By default 24 at order 0 and else 12, times (T/150,000)^(1/4) for T
    ``training_events``, times (c/b)^(1/2) for b > c background events in a batch, with reference events; c is 512 at
    order 0 and else 1,024. Order 0 multiplies K by 1 - exp(-max(n/512,000, k/1,000)) after n of them in k batches."""
    floor: float | None
    """The least start, above 0 and at most 1, which is no planing. By default 0.1 (150,000/T)^(1/2), at most 1."""
    training_events: float | None
    """T, how many background events the whole training has, over all processes and labels. Few events teach less
    flatness, and planing leaves few of them. Left out, T counts as 150,000."""
    from_logits: bool
    """Whether predictions are logits instead of scores from 0 to 1, the default."""
    categories: int | None
    """The number of values of ``category``, which are 0, 1 and so on. Each has a push and a memory of its own. A
    category with too few events in a batch for bins gets no push from it."""


class CheckOptions(TypedDict, total=False):
    """The keyword arguments of :func:`libmode.metrics.check` but for the events."""

    order: int
    background_label: Any
    signal_efficiency: float | Sequence[float] | None
    background_efficiency: float | Sequence[float] | None
    threshold: float | Sequence[float] | None
    bins: Any
    mass_range: tuple[float, float] | None
    missing: Literal["error", "ignore"]
    signal_mass: float | Sequence[float] | None
    signal_width: float | Sequence[float] | None
    search_events: float | None
    flat_below: float
    training_events: float | None
    max_slope: float | None
    monotonic: bool
