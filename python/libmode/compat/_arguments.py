"""The constructor of both classes of ``modeloss``, with its arguments as options of libmode."""

from __future__ import annotations

import warnings
from abc import abstractmethod

from .._native import int32
from ..option_types import LossOptions

_SBINS, _EPS = 32, 1e-4  # the defaults of arguments without effect


_PARAMETERS = """

    Parameters
    ----------
    bins : int
        Number of mass bins.
    sbins, eps : number
        Have no effect: the integral over scores has no grid, and no bound divides by
        zero. A warning says so for values other than the defaults.
    memory : bool
        {memory}
    background_label : integer
        The loss sees the events whose target is this.
    background_only : bool
        False pools all events, whatever their target.
    power : number
        Must be 2.
    order : int
        Degree of the polynomial dependence on mass that costs nothing, 0 to 16.
    lambd : float, optional
        ``slope_penalty``: adds ``lambd * c_1^2`` to the integrand; order >= 1.
    max_slope : float, optional
        Bound on the slope c_1 relative to c_0. Order 0 has no slope to bound.
    monotonic : bool
        Keep the allowed dependence monotonic in mass. At orders 0 and 1 it always is.
    dynamicbins : bool
        Bins of equal numbers of events, or else of equal widths.
    normalize : bool
        Map the lowest and the highest mass to -1 and 1. False: masses are inside
        [-1, 1] already, and one of a selected event outside is an error.
    sign_func : str
        Must be "tanh".

    Examples
    --------
    {examples}
    """


def described(first: str, memory: str, examples: str) -> str:
    """The docstring of a class, with the arguments of ``modeloss``. All texts are indented as in the class."""
    return first + _PARAMETERS.format(memory=memory, examples=examples)


def without_options(error: ValueError) -> ValueError:
    """The error without the advice to use an option that these classes lack."""
    return type(error)(str(error).removesuffix(", or use score_range=None"))


class Arguments:
    """A class with the constructor of ``modeloss``."""

    def __init__(
        self,
        bins: int = 32,
        sbins: int = _SBINS,
        memory: bool = False,
        background_label: float = 0,
        background_only: bool = True,
        power: float = 2,
        order: int = 0,
        lambd: float | None = None,
        max_slope: float | None = None,
        monotonic: bool = False,
        eps: float = _EPS,
        dynamicbins: bool = True,
        normalize: bool = True,
        sign_func: str = "tanh",
    ) -> None:
        if power != 2:
            raise ValueError(f"power = {power!r}: must be 2, the loss is made of squared residuals")
        if sign_func != "tanh":
            raise ValueError(f"sign_func = {sign_func!r}: must be 'tanh', the function in both bounds")
        if sbins != _SBINS:
            warnings.warn(f"sbins = {sbins!r} has no effect: the integral over scores is exact", stacklevel=2)
        if eps != _EPS:
            warnings.warn(f"eps = {eps!r} has no effect: no bound divides by zero", stacklevel=2)
        if isinstance(background_label, float) and background_label.is_integer():  # targets often are floats
            background_label = int(background_label)
        label = int32("background_label", background_label)

        options: LossOptions = {"order": order, "bins": bins, "moments": "quadrature", "unbiased": False}
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
        if label != 0:
            options["background_label"] = label
        self._make(options, bool(memory), bool(background_only))
        self._label, self.normalize = label, bool(normalize)

    @abstractmethod
    def _make(self, options: LossOptions, memory: bool, background_only: bool) -> None:
        """Makes the loss with these options."""
