"""The golden cases through NumPy and PyTorch, in both precisions; through the other frameworks: tests/frameworks."""

import subprocess
import sys

import golden
import libmode
import numpy as np
import pytest
import torch
from libmode.torch import MoDeLoss, mode_loss


def by_numpy(score, mass, weight, options):
    return libmode.mode_loss_and_grad(score, mass, weight=weight, **options)


def by_torch(score, mass, weight, options):
    score = torch.tensor(score, requires_grad=True)
    weight = None if weight is None else torch.from_numpy(weight)
    loss = mode_loss(score, torch.from_numpy(mass), weight=weight, **options)
    loss.backward()
    return loss.item(), score.grad.numpy()


def by_module(score, mass, weight, options):
    score = torch.tensor(score, requires_grad=True)
    target = torch.zeros(len(score))
    weights = None if weight is None else torch.from_numpy(weight)
    loss = MoDeLoss(**options)(score, target, torch.from_numpy(mass), weights)
    loss.backward()
    return loss.item(), score.grad.numpy()


# 1e-9 in float64, and 1e-5 where the inputs are float32.
TOLERANCE = {np.float64: 1e-9, np.float32: 1e-5}


@pytest.mark.parametrize("dtype", TOLERANCE, ids=lambda dtype: dtype.__name__)
@pytest.mark.parametrize("frontend", [by_numpy, by_torch, by_module])
def test_loss_and_gradient_are_the_oracles(golden_case, frontend, dtype):
    loss, grad = frontend(*golden_case.events(dtype), golden_case.options)
    assert grad.dtype == dtype
    golden.assert_close(loss, golden_case.loss, TOLERANCE[dtype])
    golden.assert_close(grad, golden_case.grad, TOLERANCE[dtype])


@pytest.mark.parametrize("dtype", TOLERANCE, ids=lambda dtype: dtype.__name__)
def test_loss_alone_equals_the_loss_with_its_gradient(golden_case, dtype):
    score, mass, weight = golden_case.events(dtype)
    with_grad, _ = by_numpy(score, mass, weight, golden_case.options)
    # Not to the last bit: without a gradient the walk may take other, equal steps.
    golden.assert_close(libmode.mode_loss(score, mass, weight=weight, **golden_case.options), with_grad, 1e-12)


def test_stored_losses_and_gradients_are_those_of_the_definition():
    made = subprocess.run(
        [sys.executable, golden.PATH.with_name("make.py"), "--check"], capture_output=True, text=True, timeout=120
    )
    assert made.returncode == 0, made.stdout + made.stderr
