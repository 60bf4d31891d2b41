"""The golden cases through NumPy and PyTorch, in both precisions; through the other frameworks: tests/frameworks."""

import sys

import golden
import libmode
import numpy as np
import pytest
import torch
from libmode.torch import MoDeLoss, mode_loss
from programs import run


def by_numpy(case, dtype):
    loss, grad = libmode.mode_loss_and_grad(**case.events(dtype), **case.options)
    # Not to the last bit: without a gradient the walk may take other, equal steps.
    golden.assert_close(libmode.mode_loss(**case.events(dtype), **case.options), loss, 1e-12)
    return loss, grad


def tensors(case, dtype):
    """The arguments of a loss as tensors; the score wants a gradient."""
    events = {name: None if array is None else torch.tensor(array) for name, array in case.events(dtype).items()}
    return events | {"score": events["score"].requires_grad_()}


def by_torch(case, dtype):
    events = tensors(case, dtype)
    loss = mode_loss(**events, **case.options)
    loss.backward()
    return loss.item(), events["score"].grad.numpy()


def by_module(case, dtype):
    score, mass, weight, label, category = tensors(case, dtype).values()
    target = torch.zeros(len(score)) if label is None else label
    loss = MoDeLoss(**case.options)(score, target, mass, weight, category=category)
    loss.backward()
    return loss.item(), score.grad.numpy()


# 1e-9 in float64, and 1e-5 where the inputs are float32.
TOLERANCE = {np.float64: 1e-9, np.float32: 1e-5}


@pytest.mark.parametrize("dtype", TOLERANCE, ids=lambda dtype: dtype.__name__)
@pytest.mark.parametrize("frontend", [by_numpy, by_torch, by_module])
def test_loss_and_gradient_are_the_oracles(golden_case, frontend, dtype):
    loss, grad = frontend(golden_case, dtype)
    assert grad.dtype == dtype
    golden.assert_close(loss, golden_case.loss, TOLERANCE[dtype])
    golden.assert_close(grad, golden_case.grad, TOLERANCE[dtype])


@pytest.mark.full
def test_stored_losses_and_gradients_are_those_of_the_definition():
    run(sys.executable, golden.PATH.with_name("make.py"), "--check")
