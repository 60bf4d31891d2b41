"""What is wrong with an argument is said with its name, its value and its place, in both libraries and by all ways."""

import numpy as np
import pandas as pd
import pytest
import xgboost
from boosted import IN_FEW_ROUNDS, LGB, SMALL, XGB, data, train
from libmode.xgboost import objective

pytestmark = IN_FEW_ROUNDS
EVENTS = len(SMALL)
ITS = (SMALL.features, SMALL.label)
MASS, LABEL, FEATURES, WEIGHT = SMALL.mass, SMALL.label, SMALL.features, np.ones(EVENTS)
BACKGROUND, SIGNAL = (int(np.flatnonzero(label == LABEL)[5]) for label in (0, 1))
PAIRS, RAGGED = np.column_stack([MASS, MASS]), [[1.0] * (EVENTS - 2), 1.0, [2.0]]
MARGIN = np.linspace(-1, 1, EVENTS)
nan, inf = np.nan, np.inf


def but(place, value, array=WEIGHT):
    """An array with another value at a place."""
    array = array.copy()
    array[place] = value
    return array


def trained(mass=MASS, **options):
    """By XGBoost's own training, for two rounds."""
    return train(data(*ITS), 2, objective(mass, **{"order": 1} | options))


def fitted(library, given=None, y=LABEL, mass=MASS, **parameters):
    """By the classifier, with what is given to fit."""
    classifier = library.Classifier(**{"order": 1, "n_estimators": 2, "n_jobs": 1} | parameters)
    return classifier.fit(FEATURES, y, **{"mass": mass} | (given or {}))


def evaluated(library, mass=MASS, y=LABEL, X=FEATURES, **given):
    """By the classifier, with an evaluation set."""
    return fitted(library, {"eval_set": [(X, y)], "eval_mass": [mass]} | given)


def derived(margin=MARGIN, label=LABEL, weight=None, **options):
    """By the objective itself, of a data set with these labels and weights."""
    return objective(MASS, **{"order": 1} | options)(margin, data(FEATURES, label, weight=weight))


def refused(message, function, *arguments, kind=ValueError, **named):
    """The parts of a message, between which " ... " is anything, which the function gives."""
    with pytest.raises(kind) as caught:
        function(*arguments, **named)
    assert all(part in str(caught.value) for part in message.split(" ... "))


def rows(text):
    return [row.split(" | ") for row in text.strip().splitlines()]


#: Arguments of the objective and of the classifier, with what both say.
BOTH = rows("""
score_range=(0, 2) | score_range = (0.0, 2.0):
order=-1 | order = -1 must be between 0 and 16
mass=but(BACKGROUND, nan, MASS) | mass[ ... ] = NaN:
mass=MASS[:-1] | mass has length 1999
mass=RAGGED | mass cannot be made an array
""")

#: Calls of the objective, with what they say; they raise ValueError.
OF_OBJECTIVE = rows("""
trained(label=LABEL, background_only=False) | label is given, and background_only = False
trained(background_only=False, background_label=1) | background_label = 1 and background_only = False:
trained(background_label=2) | none of the 2000 values of label equals background_label = 2
trained(weight=but(SIGNAL, inf)) | weight[ ... ] = inf:
trained(weight=1 - 1.5 * LABEL) | the weights of the class of signal sum to -500:
derived(label=but(9, 2)) | label[9] = 2: expected 1 for signal or 0 for background
derived(label=np.zeros(EVENTS)) | none of the 2000 events is signal (label 1)
objective(MASS, weight=WEIGHT, order=1)(MARGIN, data(*ITS, weight=WEIGHT + LABEL)) | weight is given, and
derived(but(4, nan)) | margin[4] = nan: ... the training diverged
derived(np.zeros((EVENTS, 3))) | the margins have shape (2000, 3)
""")

#: Calls of the classifiers.
VALUES = rows("""
fitted(library, dict(category=[1, 2, 3])) | category has length 3
fitted(library, background_label=2) | background_label = 2: must be one of the classes of y, [0.0, 1.0]
fitted(library, y=np.where(LABEL == 1, 's', 'b')) | y has the classes ['b', 's']: give background_label, the class of
fitted(library, dict(callbacks=[library.stop])) | EarlyStopping ... before the push has settled: give early_stopping_rounds
fitted(library, dict(eval_set=[ITS], eval_mass=[MASS]), early_stopping_rounds=5, **library.dart) | = 'dart' and early_stopping_rounds = 5: ... leave one of them
fitted(library, y=WEIGHT) | y has 1 class (binary)
fitted(library, early_stopping_rounds=5) | early_stopping_rounds = 5: give eval_set and eval_mass, or a number as validation_fraction
fitted(library, events=-1) | events = -1: must be positive
fitted(library, validation_fraction=0.01) | = 0.01: keeps 20 of 2000 events, 10 of them signal: expected at least 50
fitted(library, dict(eval_set=[ITS])) | eval_mass has length 0, but eval_set has 1
evaluated(library, but(3, nan, MASS)) | eval_set[0]: mass[3] = nan: ... give missing="ignore"
evaluated(library, PAIRS) | eval_set[0]: mass has shape (2000, 2)
evaluated(library, eval_sample_weight=[but(3, inf)]) | eval_set[0]: weight[3] = inf:
evaluated(library, y=but(9, 2, LABEL)) | eval_set[0]: y[9] = 2.0:
""")

#: Names that are unknown, and values of another type, so that nothing that is given counts for nothing; TypeError.
NAMES = rows("""
objective(MASS, order=1, monotonc=1) | unknown option 'monotonc': did you mean monotonic?
objective(MASS) | order is missing: it says which dependence
objective(MASS, order=1)(MARGIN, MARGIN) | use MoDeXGBClassifier or xgboost.train
xgboost.XGBClassifier(objective=objective(MASS, order=1)).fit(*ITS) | use MoDeXGBClassifier or xgboost.train
fitted(library, order=None) | order is missing: it says which dependence of the background efficiency
fitted(library, eta=3) | unknown parameter 'eta': did you mean learning_rate?
fitted(library, objective=1) | parameter 'objective' has no effect in MoDe
fitted(library, monotonc=1) | unknown parameter 'monotonc': did you mean monotonic?
fitted(library, dict(bins=5)) | unexpected keyword argument 'bins'
fitted(library, signal_efficiency=0.5, background_efficiency=0.1) | give only one of signal_efficiency and background_efficiency
fitted(library, max_depth='3') | max_depth = '3': must be an integer
fitted(library, validation_fraction='tenth') | validation_fraction = 'tenth': must be
fitted(XGB, boosting='dart') | unknown parameter 'boosting'
fitted(LGB, booster='dart') | unknown parameter 'booster'
""")
CALLS = "trained({})", "fitted(XGB, {})", "fitted(LGB, {})"
EVERY = [(call.format(given), message, ValueError) for given, message in BOTH for call in CALLS]
EVERY += [(*row, ValueError) for row in OF_OBJECTIVE + VALUES] + [(*row, TypeError) for row in NAMES]
EVERY = [
    (call.replace("library", one), message, kind)
    for call, message, kind in EVERY
    for one in (("XGB", "LGB") if "library" in call else ("",))
]


@pytest.mark.parametrize("call, message, kind", EVERY, ids=[call for call, *_ in EVERY])
def test_a_bad_argument_is_named(call, message, kind):
    refused(message, eval, call, globals() | {"XGB": XGB, "xgboost": xgboost}, kind=kind)


def test_columns_of_categories_are_an_error(library):
    table = pd.DataFrame({"jets": pd.Categorical(np.arange(EVENTS) % 3)})
    refused("X['jets'] has the dtype category: encode it", evaluated, library, X=table, kind=TypeError)


@pytest.mark.parametrize(
    "where, name",
    [
        *(("training", name) for name in ("y", "mass", "sample_weight", "category")),
        *(("evaluation", name) for name in ("y", "mass", "sample_weight")),
    ],
)
def test_rows_are_matched_by_position_and_other_indexes_are_an_error(library, where, name):
    """A Series of masses in another order than the features once gave wrong probabilities without a word."""
    order = np.arange(EVENTS)[::-1]
    given = {"X": pd.DataFrame(FEATURES, order), "y": pd.Series(LABEL, order), "mass": pd.Series(MASS, order)}
    given |= {"sample_weight": pd.Series(WEIGHT, order), "category": pd.Series(np.arange(EVENTS) % 2, order)}

    def fit(training, judged):
        judged = {"eval_set": [(judged["X"], judged["y"])], "eval_mass": [judged["mass"]],
                  "eval_sample_weight": [judged["sample_weight"]]}  # fmt: skip
        return library.Classifier(order=1, n_estimators=2, n_jobs=1).fit(**training, **judged).predict_proba(FEATURES)

    plain = {one: values.to_numpy() for one, values in given.items()}
    np.testing.assert_array_equal(fit(given, given), fit(plain, plain))
    mixed = given | {name: given[name].sort_index()}
    start, sets = ("", (mixed, given)) if where == "training" else ("eval_set[0]: ", (given, mixed))
    refused(f"{start}{name} and X have different indexes, and libmode matches events by position", fit, *sets)
    # With arrays in the place of the features, the Series are compared with one another.
    if name != "y":
        refused(f"{name} and y have different indexes", fit, *[one | {"X": FEATURES} for one in (mixed, mixed)])


def test_an_objective_refuses_other_indexes():
    mass = pd.Series(MASS)
    for name in ("weight", "label", "category"):
        refused(f"{name} and mass have different indexes", objective, mass, **{name: pd.Series(WEIGHT)[::-1]}, order=1)


#: What LightGBM does not use with an objective of its own.
IGNORED = {"pos_bagging_fraction": 0.3, "neg_bagging_fraction": 0.3, "sigmoid": 3.0, "scale_pos_weight": 7.0}
IGNORED |= {"is_unbalance": True, "input_model": "none.txt", "num_class": 1}


@pytest.mark.parametrize("name", IGNORED)
def test_what_lightgbm_ignores_with_another_objective_is_refused(name):
    refused(f"parameter {name!r} has no effect in MoDeLGBM", fitted, LGB, kind=TypeError, **{name: IGNORED[name]})


def test_linear_trees_are_an_error():
    """The prior of the classes was once added to what linear trees do not read: their probabilities were wrong."""
    for name, value in (("linear_tree", True), ("linear_trees", "true")):
        refused("booster has linear trees, ... Train without linear_tree", fitted, LGB, **{name: value})
    fitted(LGB, linear_tree=False)


def test_a_training_without_a_split_gives_the_prior():
    """LightGBM's leaves lack what margins began with."""
    few = np.flatnonzero((LABEL == 0) | (np.arange(EVENTS) % 4 == 0))
    trees = LGB.Classifier(order=1, n_estimators=3, n_jobs=1, min_child_weight=1e9)
    prior = trees.fit(FEATURES[few], LABEL[few], mass=MASS[few]).predict_proba(FEATURES)[:, 1]
    np.testing.assert_allclose(prior, LABEL[few].mean())
