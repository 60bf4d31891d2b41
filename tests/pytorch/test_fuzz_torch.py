"""Whatever the loss for PyTorch is given: a finite loss and gradient of the right types, or a sentence that names an argument.

``LIBMODE_FUZZ`` says how many examples; other than by default they differ from run to run.
"""

import warnings

import fuzzed
import numpy as np
import pytest
import torch
from fuzzed import fuzzing
from hypothesis import given, settings
from hypothesis import strategies as st
from libmode.torch import MoDeLoss, mode_loss

TYPES = [
    "float16", "bfloat16", "float32", "float64", "bool", "uint8", "int8", "int16", "int32", "int64", "uint16", "uint32", "uint64",
    "complex64", "complex128", "float8_e4m3fn", "float8_e5m2",
]  # fmt: skip
TYPES = [getattr(torch, name) for name in TYPES if hasattr(torch, name)]


KINDS = {
    "no leaf": lambda t: t.clone().requires_grad_() * 1 if t.is_floating_point() else t,
    "parameter": lambda t: torch.nn.Parameter(t.clone(), requires_grad=t.is_floating_point()),
    "meta": lambda t: t.to("meta"),
    "sparse": lambda t: t.to_sparse(),
    "expanded": lambda t: t[:1].expand(t.shape),
    "transposed": lambda t: t.t() if t.ndim < 3 else t,
    "every second": lambda t: t.repeat_interleave(2)[::2] if t.ndim == 1 else t,
    "quantized": lambda t: torch.quantize_per_tensor(t.float(), 0.1, 0, torch.qint8),
    "conjugate": lambda t: torch.conj(t.to(torch.complex64)).imag,
    "nested": lambda t: torch.nested.nested_tensor([t, t], layout=torch.jagged),
    "array": lambda t: t.numpy(),
    "list": lambda t: t.tolist(),
}


@st.composite
def tensors(draw):
    """The arguments of a loss; most are tensors."""
    given = draw(fuzzed.events())
    for name, values in given.items():
        try:
            values = torch.from_numpy(np.require(values, requirements="W"))
        except (TypeError, ValueError):  # of some arrays there is no tensor
            continue
        if draw(st.integers(0, 5)) == 0 and not values.is_complex():
            values = values.to(draw(st.sampled_from(TYPES)))
        if name == "score" and draw(st.booleans()) and values.is_floating_point():
            values = values.clone().requires_grad_()
        elif draw(st.integers(0, 11)) == 0:
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    values = KINDS[draw(st.sampled_from(sorted(KINDS)))](values)
            except (RuntimeError, TypeError, IndexError):  # of some tensors PyTorch makes no such thing
                pass
        given[name] = values
    return given


def check(loss, score):
    """The loss is finite and of its type, and so is the gradient."""
    assert loss.shape == ()
    assert loss.dtype is (torch.float64 if score.dtype is torch.float64 else torch.float32)
    if score.is_meta:
        assert loss.is_meta
        return
    assert torch.isfinite(loss)
    if score.requires_grad:
        (grad,) = torch.autograd.grad(loss, score)
        assert grad.shape == score.shape and grad.dtype is score.dtype
        # A number beyond the type of the scores is infinite, as everywhere in half precision.
        assert torch.isfinite(grad.double()).all() or score.dtype.itemsize < 4


@pytest.mark.filterwarnings("ignore:mass is in")  # test_half_masses.py has what is said
@settings(fuzzing, max_examples=fuzzed.EXAMPLES or 500)
@given(tensors(), fuzzed.options(), st.booleans())
def test_a_loss_and_its_gradient_or_a_sentence(events, options, module):
    score, label, mass, weight, category = (
        events.get(name) for name in ("score", "label", "mass", "weight", "category")
    )
    try:
        if module:
            label = torch.zeros(60) if label is None else label
            loss = MoDeLoss(**({"order": 0} | options))(score, label, mass, weight, category=category)
        else:
            loss = mode_loss(**events, **({"order": 0} | options))
    except Exception as error:
        fuzzed.sentence_of(error)
    else:
        check(loss, score)
