"""The golden cases through JAX, in both precisions, and no adapter imports what it does not need.

NumPy and PyTorch: tests/pytorch/test_golden.py; Keras on each backend, TensorFlow among them: on_keras.py.
"""

import subprocess
import sys

import golden
import jax
import libmode.jax
import numpy as np
import pytest


def by_jax(case, dtype, transform=lambda function: function):
    score, mass, *others = case.events(dtype).values()

    def loss_of(score, mass, weight, label, category):
        return libmode.jax.mode_loss(score, mass, weight=weight, label=label, category=category, **case.options)

    with jax.enable_x64(dtype == np.float64):
        loss, grad = transform(jax.value_and_grad(loss_of))(score, mass, *others)
        return float(loss), np.asarray(grad)


def by_jax_jit(case, dtype):
    return by_jax(case, dtype, jax.jit)


TOLERANCE = {np.float64: 1e-9, np.float32: 1e-5}


@pytest.mark.parametrize("dtype", TOLERANCE, ids=lambda dtype: dtype.__name__)
@pytest.mark.parametrize("frontend", [by_jax, by_jax_jit])
def test_loss_and_gradient_are_the_oracles(golden_case, frontend, dtype):
    loss, grad = frontend(golden_case, dtype)
    assert grad.dtype == dtype
    golden.assert_close(loss, golden_case.loss, TOLERANCE[dtype])
    golden.assert_close(grad, golden_case.grad, TOLERANCE[dtype])


@pytest.mark.parametrize("adapter", ["torch", "jax"])
def test_an_adapter_imports_no_other_framework(adapter):
    code = f"import sys, libmode.{adapter}; print(*(m for m in ('torch', 'jax', 'keras', 'tensorflow') if m in sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == [adapter]
