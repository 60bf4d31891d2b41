"""The losses as functions of TensorFlow's tensors.

The core finds the loss and its gradient in one pass, and the derivative is the product
with that gradient. It runs on the CPU, and TensorFlow's XLA cannot call it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import tensorflow as tf

from .. import _arrays
from .._evaluate import Evaluate, loss_and_grad
from .._front import NO_SECOND_DERIVATIVE, of_one_index
from .._options import Options, check

try:  # nothing public tells that XLA is to compile the graph
    from tensorflow.python.ops.control_flow_util import GraphOrParentsInXlaContext as in_xla
except ImportError:  # then XLA itself refuses what it cannot call, in words of its own

    def in_xla(graph: Any) -> bool:
        return False


if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ..option_types import Loss, LossOptions


@tf.autograph.experimental.do_not_convert  # AutoGraph would rewrite the callback too, which then takes 0.4 ms more
def mode_loss(
    score: Any,
    mass: Any,
    *,
    weight: Any = None,
    label: Any = None,
    category: Any = None,
    loss: Loss = "mode",
    **options: Unpack[LossOptions],
) -> Any:
    """The MoDe loss (arXiv:2010.09745) of tensors, differentiable in ``score``.

    Parameters
    ----------
    score : tensor of shape (n,) or (n, 1), floating
        Outputs of the classifier, inside ``score_range``. float16 and bfloat16 are
        computed in float32, and so is the gradient until it is multiplied by the
        incoming one.
    mass, weight, label, category : tensors of shape (n,) or (n, 1), mass also (n, d)
        As for :func:`libmode.mode_loss`. They get no gradient.
    loss : "mode", "disco" or "flatness", default "mode"
        As for :func:`libmode.mode_loss`.
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

    Examples
    --------
    >>> import numpy as np
    >>> import tensorflow as tf
    >>> from libmode.tensorflow import mode_loss
    >>> rng = np.random.default_rng(1)
    >>> mass = rng.uniform(50, 300, 10_000)
    >>> score = tf.Variable((mass / 300 + rng.random(10_000)) / 2)
    >>> with tf.GradientTape() as tape:
    ...     loss = mode_loss(score, mass)
    >>> print(f"{float(loss):.4f}, gradient of shape {tape.gradient(loss, score).shape}")
    0.0242, gradient of shape (10000,)
    >>> print(f"{float(mode_loss(score, mass, loss='disco')):.3f}")
    0.352
    """
    return loss_of(check(loss, options), score, mass, weight, label, category)


@tf.autograph.experimental.do_not_convert
def loss_of(
    options: Options,
    score: Any,
    mass: Any,
    weight: Any,
    label: Any,
    category: Any = None,
    evaluate: Evaluate = loss_and_grad,
) -> Any:
    """A loss of options that are checked, by a function as :func:`loss_and_grad` is."""
    given = tensors_of(score, mass, weight, label, category)
    options = options.rounded_to(given[0].dtype, given[1].dtype)
    score, *others = map(known_to_numpy, given)

    @tf.custom_gradient
    def of_score(score: Any) -> Any:
        loss, grad = call_back(partial(evaluate, options), [score, *others])
        return loss, lambda incoming: _product(incoming, grad, score)

    return of_score(score)


def tensors_of(score: Any, mass: Any, weight: Any, label: Any, category: Any) -> list[Any]:
    """The arguments as tensors, or None; their shapes, which a graph may not know, are looked at later."""
    optional = (("weight", weight), ("label", label), ("category", category))
    of_one_index({"score": score, "mass": mass, **dict(optional)})
    others = [None if values is None else _read(name, values) for name, values in optional]
    given = [_read("score", score), _read("mass", mass), *others]
    if not given[0].dtype.is_floating:
        raise TypeError(f"score has dtype {given[0].dtype.name}: expected a floating type")
    return given


def _read(name: str, values: Any) -> Any:
    """``values`` as a tensor."""
    if values is None:
        raise TypeError(f"{name} is None: expected a tensor of real numbers")
    _arrays.refuse_masked(name, values)
    try:
        return tf.convert_to_tensor(values)
    except (TypeError, ValueError, OverflowError) as error:  # objects, ragged lists
        _arrays.read(name, values)  # which has a sentence for it
        raise TypeError(f"{name} cannot be made a tensor: {error}") from None


def known_to_numpy(tensor: Any) -> Any:
    """The tensor, in float32 where its type is a smaller floating one, which NumPy may not have."""
    return tf.cast(tensor, tf.float32) if tensor is not None and tensor.dtype in (tf.float16, tf.bfloat16) else tensor


@tf.custom_gradient
def _product(incoming: Any, grad: Any, score: Any) -> Any:
    # The score takes no part; it ties the result to what it must not be derived by.
    def no_second_derivative(*_: Any) -> Any:
        raise RuntimeError(NO_SECOND_DERIVATIVE)

    return incoming * grad, no_second_derivative


def call_back(evaluate: Callable[..., tuple[float, Any]], tensors: list[Any]) -> tuple[Any, Any]:
    """What evaluate returns for the arrays of these tensors, the score and others or None: (), and like the score."""
    if not tf.executing_eagerly() and in_xla(tf.compat.v1.get_default_graph()):
        raise RuntimeError(
            "TensorFlow's XLA cannot call the losses of libmode: give jit_compile=False to model.compile or tf.function"
        )
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
