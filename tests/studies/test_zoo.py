"""The scan of a rival: it ends at the first strength that is flat or useless, and the flat one trains with all seeds."""

import pytest

from studies.zoo import study

PROBLEM = "tagger, order 0"
LAYER = {f"{PROBLEM}; default; {seed}": {"auc": 0.97, "r50": 500, "cuts": {}} for seed in (1, 2, 3)}
NAMED = {
    key: task
    for key, task in study.tasks(study.FULL).items()
    if task.problem == PROBLEM and task.method == "DisCo" and not task.planed
}


def trained(strength, auc, *ratios, seed=1):
    cuts = {cut: {"ratio": ratio} for cut, ratio in zip(("80 %", "50 %", "20 %"), ratios, strict=True)}
    return {f"{PROBLEM}; DisCo {strength}; {seed}": {"auc": auc, "r50": 500, "cuts": cuts}}


BEFORE = LAYER | trained(1, 0.98, 3, 2, 2) | trained(3, 0.98, 1, 1, 1.3)  # one cut is enough not to be flat


@pytest.mark.parametrize(
    "found, due",
    [
        (LAYER, ["DisCo 1; 1"]),
        (BEFORE, ["DisCo 10; 1"]),
        (BEFORE | trained(10, 0.97, 1.2, 1, 0.5), ["DisCo 10; 2", "DisCo 10; 3"]),
        (BEFORE | trained(10, 0.93, 2, 2, 2), []),  # useless, and no strength is flat
    ],
)
def test_the_next_trainings_of_a_scan(found, due):
    assert sorted(study.due(NAMED, found)) == [f"{PROBLEM}; {key}" for key in due]
