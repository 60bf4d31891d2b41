"""The MoDe loss with the constructor and the call of ``modeloss.tf.MoDeLoss``.

``modeloss`` 0.1.0 is the package of the authors of arXiv:2010.09745.
"""

from __future__ import annotations

import warnings
from typing import Any

from .._missing import needed
from .._options import options, plain
from ._arguments import EPS, SBINS, label_of, options_of

with needed("tensorflow", by="libmode.compat.tf", extra="tensorflow"):
    import tensorflow as tf

    from ..tensorflow import mode_loss


class MoDeLoss:
    """The MoDe loss of tensors, for programs written for ``modeloss``; see also :func:`libmode.tensorflow.mode_loss`.

    Parameters
    ----------
    bins : int
        Number of mass bins.
    sbins, eps : number
        Have no effect: the integral over scores has no grid, and no bound divides by
        zero. A warning says so for values other than the defaults.
    memory : bool
        Has no effect, as in ``modeloss.tf``; a warning says so for True.
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

    Raises
    ------
    ValueError, TypeError
        For what cannot be honoured, and as :func:`libmode.tensorflow.mode_loss`.
    """

    def __init__(
        self,
        bins: int = 32,
        sbins: int = SBINS,
        memory: bool = False,
        background_label: float = 0,
        background_only: bool = True,
        power: float = 2,
        order: int = 0,
        lambd: float | None = None,
        max_slope: float | None = None,
        monotonic: bool = False,
        eps: float = EPS,
        dynamicbins: bool = True,
        normalize: bool = True,
    ) -> None:
        if memory:
            warnings.warn("memory = True has no effect: the loss is that of the batch", stacklevel=2)
        given = options_of(
            bins=bins,
            sbins=sbins,
            power=power,
            order=order,
            lambd=lambd,
            max_slope=max_slope,
            monotonic=monotonic,
            eps=eps,
            dynamicbins=dynamicbins,
            normalize=normalize,
        )
        self.background_label = label_of(background_label)
        self.background_only = bool(background_only)
        self.normalize = bool(normalize)
        options(self.background_label, given)  # checked now, not at the first batch
        self.options = plain(given)

    def __call__(self, pred: Any, target: Any, x_biased: Any, weights: Any = None) -> Any:
        """The loss of a batch, shape ().

        All arguments have one shape, whichever; (n,) may stand beside (n, 1). With
        ``background_only=False`` the target is not looked at.
        """
        like = tf.convert_to_tensor(pred)
        label = _flat("target", target, like) if self.background_only else None
        mass = _flat("x_biased", x_biased, like)
        weight = None if weights is None else _flat("weights", weights, like)
        if not self.normalize:
            mass = self._checked(mass, label)
        return mode_loss(
            _flat("pred", like, like),
            mass,
            weight=weight,
            label=label,
            background_label=self.background_label,
            **self.options,
        )

    def _checked(self, mass: Any, label: Any) -> Any:
        """The masses, if those that the loss sees are inside [-1, 1]."""
        seen = mass if label is None else mass[label == tf.cast(self.background_label, label.dtype)]
        message = "x_biased: with normalize=False every mass must be inside [-1, 1]"
        with tf.control_dependencies([tf.debugging.Assert(tf.reduce_all(tf.abs(seen) <= 1), [message, seen])]):
            return tf.identity(mass)


def _flat(name: str, values: Any, pred: Any) -> Any:
    """All elements of a tensor whose shape is that of ``pred``, but for a last dimension of 1."""
    tensor = tf.convert_to_tensor(values)
    if not _without_last_1(tensor).is_compatible_with(_without_last_1(pred)):
        raise ValueError(f"{name} has shape {tuple(tensor.shape)}, but pred has shape {tuple(pred.shape)}")
    return tf.reshape(tensor, [-1])


def _without_last_1(tensor: Any) -> Any:
    return tensor.shape[:-1] if tensor.shape.rank and tensor.shape[-1] == 1 else tensor.shape
