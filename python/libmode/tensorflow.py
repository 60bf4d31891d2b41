"""The MoDe loss for TensorFlow: :func:`mode_loss`, eagerly and in a ``tf.function``.

The core finds the loss and its gradient in one pass, and the derivative is the product
with that gradient. It runs on the CPU, and TensorFlow's XLA cannot call it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ._functions import NO_SECOND_DERIVATIVE, Evaluate, loss_and_grad
from ._missing import needed
from ._options import LossOptions, Options, options

with needed("tensorflow", by="libmode.tensorflow", extra="tensorflow"):
    import tensorflow as tf
    from tensorflow.python.ops.control_flow_util import GraphOrParentsInXlaContext  # nothing public tells

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["mode_loss"]


@tf.autograph.experimental.do_not_convert  # AutoGraph would rewrite the callback too, which then takes 0.4 ms more
def mode_loss(
    score: Any,
    mass: Any,
    *,
    weight: Any = None,
    label: Any = None,
    background_label: int | Sequence[int] = 0,
    **given: Unpack[LossOptions],
) -> Any:
    """The MoDe loss (arXiv:2010.09745) of tensors, differentiable in ``score``.

    Parameters
    ----------
    score : tensor of shape (n,) or (n, 1), floating
        Outputs of the classifier, inside ``score_range``. float16 and bfloat16 are
        computed in float32, and so is the gradient until it is multiplied by the
        incoming one.
    mass, weight, label : tensors of shape (n,) or (n, 1)
        As for :func:`libmode.mode_loss`. They get no gradient.
    **options
        Those of :func:`libmode.mode_loss`.

    Returns
    -------
    Tensor of shape (), float64 for float64 scores and float32 otherwise.

    Raises
    ------
    BatchError, ValueError, TypeError
        As :func:`libmode.mode_loss`. Inside a ``tf.function`` what is wrong with the
        events is known when it runs: then a ``tf.errors.InvalidArgumentError``, which
        ends with that sentence.
    RuntimeError
        Inside ``tf.function(jit_compile=True)``.
    """
    return loss_of(score, mass, weight, label, options(background_label, given), loss_and_grad)


@tf.autograph.experimental.do_not_convert
def loss_of(score: Any, mass: Any, weight: Any, label: Any, chosen: Options, evaluate: Evaluate) -> Any:
    """:func:`mode_loss` with options that are ready, by a function as :func:`loss_and_grad` is."""
    if not tf.executing_eagerly() and GraphOrParentsInXlaContext(tf.compat.v1.get_default_graph()):
        raise RuntimeError(
            "TensorFlow's XLA cannot call the MoDe loss: give jit_compile=False to model.compile or tf.function"
        )
    score = _tensor("score", score)
    if not score.dtype.is_floating:
        raise TypeError(f"score has dtype {score.dtype.name}: expected a floating type")
    others = [
        None if values is None else _tensor(name, values) for name, values in (("weight", weight), ("label", label))
    ]
    arrays = [_tensor("mass", mass), *others]

    @tf.custom_gradient
    def of_score(score: Any) -> Any:
        loss, grad = _loss_and_grad(partial(evaluate, chosen), [score, *arrays])
        return loss, lambda incoming: _product(incoming, grad, score)

    return of_score(score)


def _tensor(name: str, values: Any) -> Any:
    """``values`` as a tensor whose type NumPy has."""
    if values is None:
        raise TypeError(f"{name} is None: expected a tensor of real numbers")
    tensor = tf.convert_to_tensor(values)
    return tf.cast(tensor, tf.float32) if tensor.dtype in (tf.float16, tf.bfloat16) else tensor


@tf.custom_gradient
def _product(incoming: Any, grad: Any, score: Any) -> Any:
    # The score takes no part; it ties the result to what it must not be derived by.
    def no_second_derivative(*_: Any) -> Any:
        raise RuntimeError(NO_SECOND_DERIVATIVE)

    return incoming * grad, no_second_derivative


def _loss_and_grad(evaluate: Callable[..., tuple[float, Any]], tensors: list[Any]) -> tuple[Any, Any]:
    if tf.executing_eagerly():
        loss, grad = evaluate(*(None if tensor is None else tensor.numpy() for tensor in tensors))
        return tf.constant(loss, tensors[0].dtype), tf.convert_to_tensor(grad)
    given = [tensor is not None for tensor in tensors]

    def call(*arrays: Any) -> tuple[Any, Any, bytes]:
        score, left = arrays[0], iter(arrays)
        try:
            loss, grad = evaluate(*(next(left) if there else None for there in given))
        except (TypeError, ValueError) as error:  # an exception would bring the frames of this callback
            return score.dtype.type(0), np.zeros_like(score), str(error).encode()
        return score.dtype.type(loss), grad, b""

    kind = tensors[0].dtype
    present = [tensor for tensor in tensors if tensor is not None]
    loss, grad, message = tf.numpy_function(call, present, [kind, kind, tf.string])
    message.set_shape(())
    # Not tf.debugging.Assert, which costs a branch.
    with tf.control_dependencies([tf.raw_ops.Assert(condition=tf.equal(message, ""), data=[message])]):
        loss, grad = tf.identity(loss), tf.identity(grad)
    loss.set_shape(())
    grad.set_shape(tensors[0].shape)
    return loss, grad
