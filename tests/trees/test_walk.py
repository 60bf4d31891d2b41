"""How many functions a fit goes through, and how long they are: a reader follows them."""

import pytest
from boosted import SMALL
from libmode.xgboost import MoDeXGBClassifier

from tools.walk import entered


@pytest.mark.filterwarnings("ignore:nothing judges")
def test_a_fit_goes_through_few_functions():
    """Of a second fit, whose options are known. Comprehensions are no functions, as in Python 3.12."""
    classifier = MoDeXGBClassifier(order=1, n_estimators=80, n_jobs=1)
    _, calls = (entered(lambda: classifier.fit(SMALL.features, SMALL.label, mass=SMALL.mass)) for _ in range(2))
    functions = {(file, name) for file, name in calls if not name.endswith(("comp>", "genexpr>"))}
    files = {file for file, _ in functions}
    assert len(functions) <= 60 and len(files) <= 11, "\n".join(map(" ".join, sorted(functions)))
    assert sum(name == "call" for _, name in calls) > 80, "the walk does not come to the core"
