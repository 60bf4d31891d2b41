"""Whatever the objectives and classifiers of boosted trees are given: finite gradients, or a sentence that names an argument.

``LIBMODE_FUZZ`` says how many examples; other than by default they differ from run to run.
"""

import re

import fuzzed
import numpy as np
import pytest
from boosted import LIBRARIES
from fuzzed import fuzzing
from hypothesis import given
from hypothesis import strategies as st

N = 60
RNG = np.random.default_rng(1)
FEATURES, LABEL = RNG.normal(size=(N, 2)), np.arange(N) % 2
#: The names of what an objective has besides a loss.
OWN = ["loss_weight", "tolerance", "score_transform", "background_only"]
NAMED = re.compile(fuzzed.NAMED.pattern + r"|\b(" + "|".join(OWN) + r")\b|training set|DMatrix|Dataset")


@st.composite
def arguments(draw):
    """Of an objective: events as anything at all, options, and what it has of its own."""
    given = {name: values for name, values in draw(fuzzed.events()).items() if name != "score"}
    given |= draw(fuzzed.options())
    for name in OWN:
        if draw(st.integers(0, 5)) == 0:
            given[name] = draw(st.sampled_from([None, 0.5, 2, *fuzzed.GARBAGE]))
    return given


def assert_finite_or_named(function, shape):
    """What a function returns has this shape and is finite, or its error names an argument."""
    try:
        found = np.array(function())
    except Exception as error:
        fuzzed.sentence_of(error, NAMED)
    else:
        assert found.shape == shape and np.isfinite(found).all()


@pytest.mark.parametrize("library", LIBRARIES)
@fuzzing
@given(arguments(), st.sampled_from([0.0, 1.0, 30.0, 1e30]))
def test_an_objective(library, given, size):
    data, mass = LIBRARIES[library].data(FEATURES, LABEL), given.pop("mass")
    margin = size * FEATURES[:, 0]
    assert_finite_or_named(lambda: LIBRARIES[library].objective(mass, **given)(margin, data), (2, N))


@pytest.mark.filterwarnings("ignore:the push has not settled:libmode.TrainingWarning")  # so few rounds
@pytest.mark.parametrize("library", LIBRARIES)
@fuzzing
@given(arguments())
def test_a_classifier(library, given):
    of_fit = {name: given.pop(name) for name in ("mass", "category") if name in given}
    for name in ("label", "weight"):  # what is wrong with labels and sample_weight scikit-learn says
        given.pop(name, None)
    kind = LIBRARIES[library].Classifier
    assert_finite_or_named(
        lambda: (
            kind(**({"order": 1, "n_estimators": 1, "n_jobs": 1} | given))
            .fit(FEATURES, LABEL, **of_fit)
            .predict_proba(FEATURES)
        ),
        (N, 2),
    )
