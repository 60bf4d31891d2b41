"""The table of errors through PyTorch: as a function, and as a module, which says them when it is made or called."""

import error_cases
import libmode.torch
import numpy as np
import pytest
from torch import from_numpy

OF_OPTIONS = [*error_cases.OPTIONS, *error_cases.FRONT_OPTIONS]
CASES = OF_OPTIONS + error_cases.EVENTS + error_cases.FRONT_ARRAYS
ARRAYS = ("score", "mass", "weight", "label", "category")


def tensors(case):
    """The arguments; arrays of numbers as tensors."""
    return {
        name: from_numpy(np.array(value))
        if name in ARRAYS and type(value) is np.ndarray and value.dtype.kind in "fiubc"
        else value
        for name, value in case.arguments().items()
    }


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.input)
def test_function_and_module_say_what_the_table_names(case):
    given = tensors(case)
    loss = {} if case.function == "mode_loss" else {"loss": "disco"}
    with pytest.raises(case.error) as caught:
        libmode.torch.mode_loss(**given, **loss)
    assert type(caught.value) is case.error
    assert case.is_in(caught.value), str(caught.value)
    if loss:
        return  # there is no module of it
    score, mass, weight, label, category = (given.pop(name, None) for name in ARRAYS)
    made = False
    with pytest.raises(case.error) as caught:
        module = libmode.torch.MoDeLoss(on_bad_batch="raise", **given)
        made = True
        if label is None:
            module.background_only = False
        module(score, label, mass, weight, category=category)
    assert case.is_in(caught.value), str(caught.value)
    assert not (made and case in OF_OPTIONS) or "but mass has" in case.words  # known with the first batch
