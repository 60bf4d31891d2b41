"""The losses, and the push of a constraint, as functions of TensorFlow's tensors.

The core finds the loss and its gradient in one pass, and the derivative is the product with that gradient. TensorFlow's
XLA cannot call it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import tensorflow as tf

from .._constraint import HostConstraint
from .._evaluate import loss_and_grad
from .._events import Events
from .._messages import NO_SECOND_DERIVATIVE
from .._options import Options
from .._read import converted

try:  # no public function says whether XLA will compile the graph
    from tensorflow.python.ops.control_flow_util import GraphOrParentsInXlaContext as in_xla
except ImportError:  # then XLA itself refuses the call, with a message of its own

    def in_xla(graph: Any) -> bool:
        return False


@tf.autograph.experimental.do_not_convert  # AutoGraph would rewrite the callback too, at a cost of 0.4 ms a call
def core_loss(options: Options, events: Events, evaluate: Any = loss_and_grad) -> Any:
    """The loss of checked options, by :func:`loss_and_grad` or a function like it, which checks the shapes."""
    score, mass = as_tensor("score", events.score), as_tensor("mass", events.mass)
    options = options.rounded_to(score.dtype, mass.dtype)
    batch = [known_to_numpy(tensor) for tensor in events._replace(score=score, mass=mass)]

    @tf.custom_gradient
    def of_score(score: Any) -> Any:
        loss, grad = call_back(partial(evaluate, options), batch, [(), score.shape])
        return loss, lambda incoming: without_derivative(tf.cast(incoming * grad, score.dtype), score)

    return of_score(score)


def as_tensor(name: str, values: Any) -> Any:
    """``values`` as a tensor; scores must be floating."""
    tensor = converted(name, values, tf.convert_to_tensor, "a tensor")
    if name == "score" and not tensor.dtype.is_floating:
        raise TypeError(f"score has dtype {tensor.dtype.name}: expected a floating type")
    return tensor


def known_to_numpy(tensor: Any) -> Any:
    """The tensor, in float32 if its floating type is a smaller one, which NumPy may lack."""
    return tf.cast(tensor, tf.float32) if tensor is not None and tensor.dtype in (tf.float16, tf.bfloat16) else tensor


def call_back(compute: Callable[..., Any], tensors: list[Any], shapes: list[Any]) -> list[Any]:
    """The results of compute for tensors or None, of these shapes and of the type of the first tensor."""
    kind = tensors[0].dtype
    if tf.executing_eagerly():
        known = (None if tensor is None else tensor.numpy() for tensor in tensors)
        return [tf.constant(result, kind) for result in compute(*known)]
    if in_xla(tf.compat.v1.get_default_graph()):
        raise RuntimeError(
            "TensorFlow's XLA cannot call the losses of libmode: give jit_compile=False to model.compile or tf.function"
        )
    present = [tensor for tensor in tensors if tensor is not None]

    def call(*arrays: Any) -> list[Any]:
        left = iter(arrays)
        results = compute(*(None if tensor is None else next(left) for tensor in tensors))
        return [np.asarray(result, kind.as_numpy_dtype) for result in results]

    results = tf.numpy_function(call, present, [kind] * len(shapes))
    return [tf.ensure_shape(result, shape) for result, shape in zip(results, shapes, strict=True)]


@tf.custom_gradient
def without_derivative(grad: Any, score: Any) -> Any:
    """A gradient by the score whose own derivative by the score is an error."""

    def no_second_derivative(*_: Any) -> Any:
        raise RuntimeError(NO_SECOND_DERIVATIVE)

    return tf.identity(grad), no_second_derivative


@tf.autograph.experimental.do_not_convert
def constrained(host: HostConstraint, events: Events) -> Any:
    """The scores, with the push in their gradient."""
    batch = [known_to_numpy(tensor) for tensor in events]

    @tf.custom_gradient
    def same(score: Any) -> Any:
        def pushed(incoming: Any) -> Any:
            gradient = tf.cast(incoming, batch[0].dtype)
            (added,) = call_back(host.outgoing, [gradient, *batch], [score.shape])
            return without_derivative(tf.cast(added, score.dtype), score)

        return tf.identity(score), pushed

    return same(events.score)
