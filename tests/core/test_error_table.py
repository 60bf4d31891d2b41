"""The table of errors through NumPy, by each function that it is of."""

from functools import partial

import error_cases
import libmode
import pytest
from libmode import mode_evaluate, mode_moments

FUNCTIONS = {
    "mode_loss": [libmode.mode_loss, libmode.mode_loss_and_grad],
    "disco_loss": [partial(libmode.mode_loss_and_grad, loss="disco")],
    "mode_evaluate": [mode_evaluate],
    "mode_moments": [mode_moments],
    "mode_edges": [libmode.mode_edges],
}
CASES = [
    *(error_cases.OPTIONS + error_cases.EVENTS + error_cases.LOOKING),
    *(error_cases.FRONT_OPTIONS + error_cases.FRONT_ARRAYS),
    *error_cases.table("score = [[0.1], [0.2, 0.3]] | ValueError | score cannot be made an array"),
    *error_cases.table("score = np.ma.masked_less(score, 0.05) | TypeError | score[0] is masked"),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.function}-{case.input}")
def test_the_error_is_that_of_the_table(case):
    for function in FUNCTIONS[case.function]:
        with pytest.raises(case.error) as caught:
            function(**case.arguments())
        assert type(caught.value) is case.error
        assert case.is_in(caught.value), str(caught.value)
