"""The arguments of ``modeloss`` as the options of libmode."""

from __future__ import annotations

import warnings

from .._native import int32
from .._options import LossOptions

SBINS, EPS = 32, 1e-4  # the defaults of what has no effect


def label_of(background_label: float) -> int:
    """The background label; targets often are floats."""
    if isinstance(background_label, float) and background_label.is_integer():
        background_label = int(background_label)
    return int32("background_label", background_label)


def options_of(
    *,
    bins: int,
    sbins: int,
    power: float,
    order: int,
    lambd: float | None,
    max_slope: float | None,
    monotonic: bool,
    eps: float,
    dynamicbins: bool,
    normalize: bool,
) -> LossOptions:
    """The options that the arguments stand for.

    Raises ValueError for what cannot be honoured and warns, at the caller of the
    caller, of what has no effect.
    """
    if power != 2:
        raise ValueError(f"power = {power!r}: must be 2, the loss is made of squared residuals")
    if sbins != SBINS:
        warnings.warn(f"sbins = {sbins!r} has no effect: the integral over scores is exact", stacklevel=3)
    if eps != EPS:
        warnings.warn(f"eps = {eps!r} has no effect: no bound divides by zero", stacklevel=3)

    options: LossOptions = {"order": order, "bins": bins}
    if lambd is not None:
        options["slope_penalty"] = lambd
    if max_slope is not None and order != 0:
        options["max_slope"] = max_slope
    if monotonic and order not in (0, 1):
        options["monotonic"] = True
    if not dynamicbins:
        options["binning"] = "uniform"
    if not normalize:
        options["mass_range"] = (-1, 1)
    return options
