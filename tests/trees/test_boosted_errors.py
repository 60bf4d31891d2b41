"""What is wrong with an argument is said with its name, its value and its place, in both libraries and by all ways."""

from concurrent.futures import ThreadPoolExecutor

import libmode.lightgbm
import libmode.xgboost
import lightgbm
import numpy as np
import pytest
import xgboost
from boosted import CLASSIFIERS, DATA, LGB, METRICS, OBJECTIVES, SMALL, XGB
from sklearn.model_selection import GridSearchCV
from xgboost.tracker import RabitTracker

LIBRARIES = list(OBJECTIVES)
EVENTS = len(SMALL)
BACKGROUND, SIGNAL = (int(np.flatnonzero(SMALL.label == label)[5]) for label in (0, 1))


def ones_but(place, value):
    array = np.ones(EVENTS)
    array[place] = value
    return array


def mass_but(place, value):
    array = SMALL.mass.copy()
    array[place] = value
    return array


def trained(library, mass=SMALL.mass, label=SMALL.label, **options):
    """By the native API, for two rounds."""
    data = DATA[library](SMALL.features, label)
    objective = OBJECTIVES[library](mass, **options)
    if library == "xgboost":
        return xgboost.train(XGB, data, 2, obj=objective)
    return lightgbm.train(LGB | {"objective": objective}, data, 2)


def fitted(library, mass=SMALL.mass, label=SMALL.label, sample_weight=None, category=None, evaluated=(), **parameters):
    """By the classifier."""
    classifier = CLASSIFIERS[library](**{"n_estimators": 2, "n_jobs": 1} | parameters)
    more = {"sample_weight": sample_weight, "category": category} | dict(evaluated)
    return classifier.fit(SMALL.features, label, mass=mass, **more)


def error(kind, function, *arguments, **named):
    """The whole sentence."""
    with pytest.raises(kind) as caught:
        function(*arguments, **named)
    return str(caught.value)


ELSEWHERE = (
    ", but the training set has 2000 rows, whose own it must be. xgboost.cv and lightgbm.cv train on parts of their "
    "rows: use cross_validate of scikit-learn with MoDeXGBClassifier or MoDeLGBMClassifier instead, whose fit takes "
    "the masses of each part"
)

# Arguments, and what both the native API and the classifier say of them.
OF_OPTIONS = {
    "strength = -1: must be positive and finite": {"strength": -1},
    "strength = nan: must be positive and finite": {"strength": np.nan},
    "tolerance = 0: must be positive and finite": {"tolerance": 0},
    "relative_strength = inf: must be positive and finite": {"relative_strength": np.inf},
    "strength = 2.0 and tolerance = 5.0: a fixed strength ignores the tolerance; leave one of them out": {
        "strength": 2.0,
        "tolerance": 5.0,
    },
    "score_transform = 'logit': must be 'odds' or None": {"score_transform": "logit"},
    "score_range = (0, 1): the scores of boosted trees are from 0 to 1": {"score_range": (0, 1)},
    "order = -1 must be between 0 and 16": {"order": -1},
}


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("sentence", OF_OPTIONS)
def test_options(library, sentence):
    assert sentence in error(ValueError, OBJECTIVES[library], SMALL.mass, **OF_OPTIONS[sentence])
    assert sentence in error(ValueError, fitted, library, **OF_OPTIONS[sentence])


@pytest.mark.parametrize("library", LIBRARIES)
def test_options_that_are_unknown(library):
    said = error(TypeError, OBJECTIVES[library], SMALL.mass, monotonc=True)
    assert said.startswith("unknown option 'monotonc': did you mean monotonic? The options are order, bins,")
    assert "did you mean order?" in error(TypeError, METRICS[library], {}, ordr=1)
    assert error(TypeError, fitted, library, monotonc=True) == "unknown parameter 'monotonc': did you mean monotonic?"
    # Another name beside what the classifier gives the library would count for nothing.
    assert error(TypeError, fitted, library, eta=0.1) == "unknown parameter 'eta': did you mean learning_rate?"
    for name in ("objective", "eval_metric", "base_score", "scale_pos_weight"):
        said = error(TypeError, fitted, library, **{name: 1})
        assert said == f"parameter '{name}' is set by {CLASSIFIERS[library].__name__}: leave it out"
    assert "strength = 'much': must be a number" in error(TypeError, fitted, library, strength="much")


KNOWN = {"xgboost": "neither MoDeXGBClassifier nor XGBoost", "lightgbm": "neither MoDeLGBMClassifier nor LightGBM"}


@pytest.mark.parametrize("library", LIBRARIES)
def test_parameters_that_neither_side_knows(library):
    """They once changed nothing, and nothing said so."""
    for name in ("nonsense_option", "from_logits", "on_bad_batch", "reference", "gather", "smoothing"):
        said = error(TypeError, fitted, library, **{name: 3})
        assert said == f"unknown parameter '{name}': {KNOWN[library]} has it"
    for name, meant in {"max_slop": "max_slope", "n_estimator": "n_estimators", "max_leavs": "max_leaves"}.items():
        assert error(TypeError, fitted, library, **{name: 3}) == f"unknown parameter '{name}': did you mean {meant}?"
    # Set later, and in a search, which fits.
    classifier = CLASSIFIERS[library](n_estimators=2).set_params(nonsense_option=3)
    assert KNOWN[library] in error(TypeError, classifier.fit, SMALL.features, SMALL.label, mass=SMALL.mass)
    search = GridSearchCV(CLASSIFIERS[library](n_estimators=2), {"max_slop": [1.0]}, cv=2, error_score="raise")
    assert "did you mean max_slope?" in error(TypeError, search.fit, SMALL.features, SMALL.label, mass=SMALL.mass)


def test_parameters_of_one_library_alone():
    of_one = {"xgboost": {"booster": "dart", "rate_drop": 0.1}, "lightgbm": {"boosting": "dart", "min_data_in_leaf": 5}}
    of_one["xgboost"] |= {"gamma": 0.1, "num_parallel_tree": 2, "verbosity": 0, "monotone_constraints": (1, 0)}
    of_one["lightgbm"] |= {"min_split_gain": 0.1, "max_leaves": 7, "linear_tree": False, "monotone_constraints": (1, 0)}
    for library, parameters in of_one.items():
        fitted(library, **parameters)
        other = next(name for name in LIBRARIES if name != library)
        first = next(iter(parameters))
        assert error(TypeError, fitted, other, **{first: parameters[first]}).startswith(f"unknown parameter '{first}'")
    # Of dart alone: without it, it would count for nothing.
    assert KNOWN["xgboost"] in error(TypeError, fitted, "xgboost", rate_drop=0.1)
    # Another name of LightGBM's for what the classifier gives it counts.
    trees = fitted("lightgbm", max_leaf=3).booster_.dump_model()["tree_info"]
    assert max(tree["num_leaves"] for tree in trees) == 3
    assert error(TypeError, fitted, "lightgbm", n_iter=3) == "unknown parameter 'n_iter': did you mean n_estimators?"


@pytest.mark.parametrize("library", LIBRARIES)
def test_arguments_of_fit_by_other_names(library):
    for name, meant in {"weight": "sample_weight", "weights": "sample_weight", "masss": "mass"}.items():
        classifier = CLASSIFIERS[library]()
        given = {"mass": SMALL.mass, name: np.ones(EVENTS)}
        said = error(TypeError, classifier.fit, SMALL.features, SMALL.label, **given)
        assert said == f"fit: unknown argument '{name}': did you mean {meant}?"
    for name, meant in {"weight": "sample_weight", "label": "y", "eval_mass": "eval_mass"}.items():
        said = error(TypeError, CLASSIFIERS[library](**{name: 1}).fit, SMALL.features, SMALL.label, mass=SMALL.mass)
        assert said == f"parameter '{name}': fit takes it, as {meant}"


@pytest.mark.parametrize("library", LIBRARIES)
def test_background_only_leaves_no_room_for_labels(library):
    said = "background_label = 1 and background_only = False: every event takes part, leave background_label out"
    both = {"background_only": False, "background_label": 1}
    assert error(ValueError, OBJECTIVES[library], SMALL.mass, **both) == said
    assert error(ValueError, METRICS[library], {}, **both) == said
    assert error(ValueError, fitted, library, **both) == said
    said = error(ValueError, OBJECTIVES[library], SMALL.mass, label=SMALL.label, background_only=False)
    assert said == "label is given, and background_only = False: every event takes part, leave label out"
    for way in (OBJECTIVES[library], lambda mass, **more: fitted(library, **more)):
        assert (
            error(TypeError, way, SMALL.mass, background_only="no") == "background_only = 'no': must be True or False"
        )


# Of the native API, in the first round.
OF_ARRAYS = {
    "mass has length 1999" + ELSEWHERE: {"mass": SMALL.mass[:-1]},
    "mass has shape (): expected (n,), or (n, d) for d variables, at most 3": {"mass": 3.0},
    "mass has shape (2000, 4): expected (n,), or (n, d) for d variables, at most 3": {"mass": np.ones((EVENTS, 4))},
    f"mass[{BACKGROUND}] = NaN: every mass of a selected event must be finite": {"mass": mass_but(BACKGROUND, np.nan)},
    f"mass[{BACKGROUND}] = -Inf: every mass of a selected": {"mass": mass_but(BACKGROUND, -np.inf)},
    "all 1000 selected events have the same mass 1": {"mass": np.ones(EVENTS)},
    "weight has length 1" + ELSEWHERE: {"weight": [1.0]},
    "weight has shape (2000, 2): expected (n,) or (n, 1)": {"weight": np.ones((EVENTS, 2))},
    "weight[4] = nan: every weight must be finite": {"weight": ones_but(4, np.nan)},
    f"weight[{SIGNAL}] = inf: every weight must be finite": {"weight": ones_but(SIGNAL, np.inf)},
    "the weights of the class of background sum to -2000: must be positive": {"weight": np.full(EVENTS, -2)},
    "the weights of the class of signal sum to -500: must be positive": {"weight": 1 - 1.5 * SMALL.label},
    "the weights of the class of background sum to 0: must be positive": {"weight": np.zeros(EVENTS)},
    "label[9] = 2.0: must be 1 for signal or 0 for background": {"label": ones_but(9, 2)},
    "none of the 2000 events is signal (label 1): both classes are needed": {"label": np.zeros(EVENTS)},
    "none of the 2000 events is background (label 0): both classes are needed": {"label": np.ones(EVENTS)},
    "category has length 3" + ELSEWHERE: {"category": [1, 2, 3]},
    "none of the 2000 values of label equals background_label = 5": {"background_label": 5},
    "1000 selected events cannot fill bins = 1001 quantile bins": {"bins": 1001},
}


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("sentence", OF_ARRAYS)
def test_arrays_of_the_native_api(library, sentence):
    assert sentence in error(ValueError, trained, library, **OF_ARRAYS[sentence])


@pytest.mark.parametrize("library", LIBRARIES)
def test_labels_and_weights_are_given_once(library):
    weight = np.random.default_rng(0).uniform(1, 2, EVENTS)
    data = DATA[library](SMALL.features, SMALL.label, weight=weight)
    said = error(ValueError, OBJECTIVES[library](SMALL.mass, weight=weight), np.zeros(EVENTS), data)
    assert said == "weight is given, and the data set has weights: leave one of them out"


OF_CLASSIFIER = {
    "mass has length 1999, but X has 2000 rows": {"mass": SMALL.mass[:-1]},
    f"mass[{BACKGROUND}] = NaN: every mass of a selected event must be finite": {"mass": mass_but(BACKGROUND, np.nan)},
    "category has length 3, but X has 2000 rows": {"category": [1, 2, 3]},
    "Input sample_weight contains NaN": {"sample_weight": ones_but(4, np.nan)},
    "the weights of the class of signal sum to -500: must be positive": {"sample_weight": 1 - 1.5 * SMALL.label},
    "y has 3 classes (multiclass): Only binary classification is supported": {"label": ones_but([3, 4], [0, 2])},
    "y has 1 class (binary)": {"label": np.ones(EVENTS)},
    "n_estimators = 0: expected at least 1": {"n_estimators": 0},
    "early_stopping_rounds = 0: expected at least 1": {
        "early_stopping_rounds": 0,
        "evaluated": {"eval_set": [(SMALL.features, SMALL.label)], "eval_mass": [SMALL.mass]},
    },
    "early_stopping_rounds = 5: give eval_set and eval_mass": {"early_stopping_rounds": 5},
    "events = -1: must be positive and finite": {"events": -1},
    "'x' cannot be used to seed": {"random_state": "x"},
}


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("sentence", OF_CLASSIFIER)
def test_arguments_of_the_classifier(library, sentence):
    assert sentence in error(ValueError, fitted, library, **OF_CLASSIFIER[sentence])


ITS = (SMALL.features, SMALL.label)
# Never is the mass of the training that of an evaluation set.
OF_EVALUATION = {
    "eval_mass is missing: give a list of the masses of each of eval_set": {"eval_set": [ITS]},
    "eval_mass or eval_sample_weight is given without eval_set": {"eval_mass": [SMALL.mass]},
    "eval_mass has length 1, but eval_set has 2: both are lists, eval_set one of (X, y), with an entry for each": {
        "eval_set": [ITS, ITS],
        "eval_mass": [SMALL.mass],
    },
    "eval_mass has length 2000, but eval_set has 2": {"eval_set": ITS, "eval_mass": SMALL.mass},
    "eval_set[1]: mass has length 7, but X has 2000 rows": {
        "eval_set": [ITS, ITS],
        "eval_mass": [SMALL.mass, SMALL.mass[:7]],
    },
    "eval_set[0]: mass[3] = nan: every mass must be finite": {"eval_set": [ITS], "eval_mass": [mass_but(3, np.nan)]},
    "eval_set[0]: mass has shape (2000, 2), but the training had another number of variables": {
        "eval_set": [ITS],
        "eval_mass": [np.ones((EVENTS, 2))],
    },
    "eval_set[0]: weight[3] = inf: every weight must be finite": {
        "eval_set": [ITS],
        "eval_mass": [SMALL.mass],
        "eval_sample_weight": [ones_but(3, np.inf)],
    },
    "eval_set[0]: y[9] = 2.0: the training had [0.0, 1.0]": {
        "eval_set": [(SMALL.features, np.where(np.arange(EVENTS) == 9, 2, SMALL.label))],
        "eval_mass": [SMALL.mass],
    },
    "eval_set[0]: none of the 2000 events is signal (label 1)": {
        "eval_set": [(SMALL.features, 0 * SMALL.label)],
        "eval_mass": [SMALL.mass],
    },
    "eval_set[0]: X has 1 features, but": {
        "eval_set": [(SMALL.features[:, :1], SMALL.label)],
        "eval_mass": [SMALL.mass],
    },
}


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("sentence", OF_EVALUATION)
def test_evaluation_sets(library, sentence):
    assert sentence in error(ValueError, fitted, library, evaluated=OF_EVALUATION[sentence])


@pytest.mark.parametrize("library", LIBRARIES)
def test_early_stopping_is_by_one_variable(library):
    evaluated = {"eval_set": [ITS], "eval_mass": [np.column_stack([SMALL.mass, SMALL.mass])]}
    mass = evaluated["eval_mass"][0]
    said = error(ValueError, fitted, library, mass=mass, early_stopping_rounds=3, evaluated=evaluated)
    assert said == (
        "early_stopping_rounds = 3: the sensitivity needs one variable of mass, and mass has shape (2000, 2)"
    )


class TestMetric:
    """Of evaluation sets in the native API."""

    @pytest.mark.parametrize("library", LIBRARIES)
    def test_masses_of_each_data_set(self, library):
        known, unknown = (DATA[library](SMALL.features, SMALL.label) for _ in range(2))
        margin = np.linspace(-1, 1, EVENTS)
        metric = METRICS[library]
        assert error(ValueError, metric({known: SMALL.mass}), margin, unknown) == (
            "metric has no masses for a data set of 2000 rows: give it {data: mass}, with the same data "
            "objects as the training"
        )
        for of_data, sentence in {
            "short": (SMALL.mass[1:], "mass has length 1999, but the data set has 2000 rows"),
            "short weights": ((SMALL.mass, [1.0]), "weight has length 1, but the data set has 2000 rows"),
            "weights": ((SMALL.mass, ones_but(4, np.nan)), "weight[4] = nan: every weight must be finite"),
            "sum": ((SMALL.mass, -np.ones(EVENTS)), "the weights of the class of background sum to -1000: must be"),
            "mass": (mass_but(2, np.nan), "mass[2] = nan: expected a finite number"),
            "variables": (np.ones((EVENTS, 2)), "mass has shape (2000, 2): the sensitivity needs one variable"),
        }.values():
            assert sentence in error(ValueError, metric({known: of_data}), margin, known)

    @pytest.mark.parametrize("library", LIBRARIES)
    def test_arguments(self, library):
        metric = METRICS[library]
        for wrong in ([SMALL.mass], SMALL.mass, None):
            said = error(TypeError, metric, wrong)
            assert said == f"masses is {type(wrong).__name__}: expected {{data set: mass}}, or such pairs"
        for of in ("auc", (), 3):
            said = error(ValueError, metric, {}, of=of)
            assert said == (
                f"of = {of!r}: must be one or some of 'logloss', 'loss', 'dependence', 'inverse_sensitivity'"
            )
        assert error(ValueError, metric, {}, of="loss") == "strength = None: give one if of has 'loss', and only then"
        assert error(ValueError, metric, {}, strength=2) == "strength = 2: give one if of has 'loss', and only then"
        assert error(ValueError, metric, {}, of="loss", strength=-1) == "strength = -1: must be positive and finite"
        assert error(ValueError, metric, {}, events=0) == "events = 0: expected a finite number above 0"


def test_cv_says_what_to_do_instead():
    data = DATA["xgboost"](SMALL.features, SMALL.label)
    said = error(ValueError, xgboost.cv, XGB, data, 2, nfold=4, obj=OBJECTIVES["xgboost"](SMALL.mass))
    assert said == "mass has length 2000" + ELSEWHERE.replace("2000", "1500")
    data = DATA["lightgbm"](SMALL.features, SMALL.label)
    parameters = LGB | {"objective": OBJECTIVES["lightgbm"](SMALL.mass)}
    said = error(ValueError, lightgbm.cv, parameters, data, 2, nfold=4)
    assert said == "mass has length 2000" + ELSEWHERE.replace("2000", "1500")


def test_a_distributed_training_of_lightgbm():
    for name in ("num_machines", "num_machine"):
        data = lightgbm.Dataset(SMALL.features, SMALL.label, params={name: 3})
        said = error(RuntimeError, OBJECTIVES["lightgbm"](SMALL.mass), np.zeros(EVENTS), data)
        assert said.startswith("this is one of 3 machines of a distributed training, and sees only its own rows")


def test_a_distributed_training_of_xgboost():
    tracker = RabitTracker(n_workers=2, host_ip="127.0.0.1")
    tracker.start()

    def said(worker):
        with xgboost.collective.CommunicatorContext(**tracker.worker_args()):
            data = DATA["xgboost"](SMALL.features, SMALL.label)
            return [
                error(RuntimeError, judge, np.zeros(EVENTS), data)
                for judge in (OBJECTIVES["xgboost"](SMALL.mass), METRICS["xgboost"]({data: SMALL.mass}))
            ]

    with ThreadPoolExecutor(2) as workers:
        for sentence in np.ravel(list(workers.map(said, range(2)))):
            assert sentence.startswith(
                "this is one of 2 processes of a distributed training, and sees only its own rows"
            )


def test_parameters_of_the_training_are_seen_by_lightgbms_objective():
    """Else a training on several machines would go unnoticed."""
    seen = []

    class Watched:
        def __call__(self, margin, data):
            seen.append(data.params)
            return np.zeros(EVENTS), np.ones(EVENTS)

    lightgbm.train(LGB | {"objective": Watched(), "num_machines": 1}, lightgbm.Dataset(*ITS), 1)
    assert seen[0]["num_machines"] == 1


class TestFinalize:
    """The link of a booster of LightGBM."""

    def test_is_for_boosters_and_a_number(self):
        booster = trained("lightgbm")
        assert error(TypeError, libmode.lightgbm.finalize, fitted("lightgbm")) == (
            "booster is MoDeLGBMClassifier: expected lightgbm.Booster"
        )
        assert error(ValueError, libmode.lightgbm.finalize, booster, np.inf) == "init_score = inf: must be finite"
        for wrong in (np.zeros(4), "a"):
            said = error(TypeError, libmode.lightgbm.finalize, booster, wrong)
            assert said == f"init_score is {type(wrong).__name__}: expected the one number of all rows"

    def test_of_a_training_that_split_nothing_is_the_prior(self):
        data = lightgbm.Dataset(*ITS, init_score=np.full(EVENTS, 0.7))
        parameters = LGB | {"min_sum_hessian_in_leaf": 1e9, "objective": OBJECTIVES["lightgbm"](SMALL.mass)}
        final = libmode.lightgbm.finalize(lightgbm.train(parameters, data, 3), 0.7)
        np.testing.assert_allclose(final.predict(SMALL.features), 1 / (1 + np.exp(-0.7)))


@pytest.mark.parametrize("library", CLASSIFIERS)
@pytest.mark.parametrize("name", ["mass", "category"])
def test_a_ragged_list_is_named(library, name):
    ragged = [[1.0] * (EVENTS - 2), 1.0, [2.0]]
    given = {"mass": SMALL.mass, name: ragged}
    for way in (fitted, trained):
        said = error(ValueError, way, library, **given)
        assert said == f"{name} cannot be made an array: expected one number for each event"
