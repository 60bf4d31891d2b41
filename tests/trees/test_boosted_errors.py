"""What is wrong with an argument is said with its name, its value and its place, in both libraries and by all ways."""

from concurrent.futures import ThreadPoolExecutor

import libmode.lightgbm
import lightgbm
import numpy as np
import pytest
import xgboost
from boosted import LGB, LIBRARIES, SMALL, XGB
from xgboost.tracker import RabitTracker

EVENTS = len(SMALL)
BACKGROUND, SIGNAL = (int(np.flatnonzero(SMALL.label == label)[5]) for label in (0, 1))
ITS = (SMALL.features, SMALL.label)


@pytest.fixture(params=LIBRARIES)
def library(request):
    return LIBRARIES[request.param]


def but(place, value, array=None):
    """An array, of ones by default, with another value at a place."""
    array = np.ones(EVENTS) if array is None else array.copy()
    array[place] = value
    return array


def trained(library, mass=SMALL.mass, **options):
    """By the native API, for two rounds."""
    return library.train(library.data(*ITS), 2, library.objective(mass, **options))


def fitted(library, mass=SMALL.mass, y=SMALL.label, given=(), **parameters):
    """By the classifier."""
    return library.Classifier(**{"n_estimators": 2, "n_jobs": 1} | parameters).fit(
        SMALL.features, y, mass=mass, **dict(given)
    )


def refused(message, function, *arguments, kind=ValueError, **named):
    """The start of a message, which the function gives."""
    with pytest.raises(kind) as caught:
        function(*arguments, **named)
    assert message in str(caught.value)


# Of options, what both the native API and the classifier say.
OPTIONS = [
    ("strength = -1: must be positive", {"strength": -1}),
    ("tolerance = 0: must be positive", {"tolerance": 0}),
    ("strength = 2.0 and tolerance = 5.0: ", {"strength": 2.0, "tolerance": 5.0}),
    ("score_transform = 'logit': must be 'odds' or None", {"score_transform": "logit"}),
    ("score_range = (0, 1): ", {"score_range": (0, 1)}),
    ("order = -1 must be between 0 and 16", {"order": -1}),
    ("background_label = 1 and background_only = False: ", {"background_only": False, "background_label": 1}),
    # Of arrays, in the first round.
    (f"mass[{BACKGROUND}] = NaN: ", {"mass": but(BACKGROUND, np.nan, SMALL.mass)}),
    ("mass has length 1999", {"mass": SMALL.mass[:-1]}),
    ("category has length 3", {"category": [1, 2, 3]}),
    ("mass cannot be made an array", {"mass": [[1.0] * (EVENTS - 2), 1.0, [2.0]]}),
]


@pytest.mark.parametrize("message, given", OPTIONS)
def test_options_and_arrays_by_both_ways(library, message, given):
    refused(message, trained, library, **given)
    of_fit = {name: given[name] for name in given.keys() & {"category"}}
    refused(message, fitted, library, **{name: given[name] for name in given.keys() - of_fit.keys()}, given=of_fit)


@pytest.mark.parametrize(
    "message, given",
    [
        ("label is given, and background_only = False", {"label": SMALL.label, "background_only": False}),
        ("mass has shape (2000, 4): ", {"mass": np.ones((EVENTS, 4))}),
        ("weight has length 1", {"weight": [1.0]}),
        ("weight has shape (2000, 2): ", {"weight": np.ones((EVENTS, 2))}),
        (f"weight[{SIGNAL}] = inf: ", {"weight": but(SIGNAL, np.inf)}),
        ("the weights of the class of signal sum to -500: ", {"weight": 1 - 1.5 * SMALL.label}),
    ],
)
def test_arrays_of_the_native_api(library, message, given):
    refused(message, trained, library, **given)


@pytest.mark.parametrize(
    "message, label",
    [
        ("label[9] = 2.0: must be 1 for signal or 0 for background", but(9, 2)),
        ("none of the 2000 events is signal (label 1)", np.zeros(EVENTS)),
    ],
)
def test_labels_of_a_data_set(library, message, label):
    refused(message, library.objective(SMALL.mass), np.zeros(EVENTS), library.data(SMALL.features, label))


def test_weights_are_given_once_and_margins_are_numbers_of_one_class(library):
    weight = np.random.default_rng(0).uniform(1, 2, EVENTS)
    weighted, data = library.data(*ITS, weight=weight), library.data(*ITS)
    objective = library.objective(SMALL.mass)
    refused("weight is given, and", library.objective(SMALL.mass, weight=weight), np.zeros(EVENTS), weighted)
    refused("margin[4] = nan: the training diverged", objective, but(4, np.nan), data)
    refused("the margins have shape (2000, 3)", objective, np.zeros((EVENTS, 3)), data)


def test_names_that_are_unknown(library):
    """Nothing that is given counts for nothing."""
    name = library.Classifier.__name__
    refused(
        "unknown option 'monotonc': did you mean monotonic?", library.objective, SMALL.mass, kind=TypeError, monotonc=1
    )
    refused("did you mean order?", library.metric, {}, kind=TypeError, ordr=1)
    meant = {"monotonc": "monotonic", "eta": "learning_rate", "n_estimator": "n_estimators"}
    for wrong, right in meant.items():
        message = f"unknown parameter '{wrong}': did you mean {right}?"
        refused(message, fitted, library, kind=TypeError, **{wrong: 3})
    for wrong in ("nonsense_option", "on_bad_batch", "smoothing"):
        message = f"unknown parameter '{wrong}': neither {name} nor"
        refused(message, fitted, library, kind=TypeError, **{wrong: 3})
    for wrong in ("objective", "base_score", "scale_pos_weight"):
        refused(f"parameter '{wrong}' is set by {name}", fitted, library, kind=TypeError, **{wrong: 1})
    for wrong, right in {"weight": "sample_weight", "label": "y", "eval_mass": "eval_mass"}.items():
        message = f"parameter '{wrong}': fit takes it, as {right}"
        refused(message, fitted, library, kind=TypeError, **{wrong: 1})
    for wrong, right in {"weight": "sample_weight", "masss": "mass"}.items():
        message = f"fit: unknown argument '{wrong}': did you mean {right}?"
        refused(message, fitted, library, kind=TypeError, given={wrong: np.ones(EVENTS)})
    refused("strength = 'much': must be a number", fitted, library, kind=TypeError, strength="much")
    refused("background_only = 'no': must be", fitted, library, kind=TypeError, background_only="no")


def test_parameters_of_one_library_alone():
    of_one = {XGB: {"booster": "dart", "rate_drop": 0.1, "monotone_constraints": (1, 0)}}
    of_one[LGB] = {"boosting": "dart", "max_leaves": 7, "monotone_constraints": (1, 0)}
    for (library, parameters), other in zip(of_one.items(), (LGB, XGB), strict=True):
        fitted(library, **parameters)
        name, value = next(iter(parameters.items()))
        refused(f"unknown parameter '{name}'", fitted, other, kind=TypeError, **{name: value})
    # Of dart alone: without it, it would count for nothing.
    refused("'rate_drop': neither", fitted, XGB, kind=TypeError, rate_drop=0.1)
    # Another name of LightGBM's for what the classifier gives it counts.
    trees = fitted(LGB, max_leaf=3).booster_.dump_model()["tree_info"]
    assert max(tree["num_leaves"] for tree in trees) == 3


TWO = {"eval_set": [ITS, ITS]}
ONE = {"eval_set": [ITS], "eval_mass": [SMALL.mass]}
PAIRS = np.column_stack([SMALL.mass, SMALL.mass])
OF_CLASSIFIER = [
    ("Input sample_weight contains NaN", {"sample_weight": but(4, np.nan)}, {}),
    ("y has 3 classes (multiclass): Only binary", {}, {"y": but([3, 4], [0, 2])}),
    ("y has 1 class (binary)", {}, {"y": np.ones(EVENTS)}),
    ("n_estimators = 0: ", {}, {"n_estimators": 0}),
    ("early_stopping_rounds = 0: ", ONE, {"early_stopping_rounds": 0}),
    ("early_stopping_rounds = 5: give eval_set and eval_mass", {}, {"early_stopping_rounds": 5}),
    ("early_stopping_rounds = 3: ", ONE | {"eval_mass": [PAIRS]}, {"early_stopping_rounds": 3, "mass": PAIRS}),
    ("events = -1: must be positive", {}, {"events": -1}),
    # Of evaluation sets; never is the mass of the training that of one.
    ("eval_mass is missing", {"eval_set": [ITS]}, {}),
    ("eval_mass or eval_sample_weight is given without eval_set", {"eval_mass": [SMALL.mass]}, {}),
    ("eval_mass has length 1, but eval_set has 2", TWO | {"eval_mass": [SMALL.mass]}, {}),
    ("eval_set[1]: mass has length 7", TWO | {"eval_mass": [SMALL.mass, SMALL.mass[:7]]}, {}),
    ("eval_set[0]: mass[3] = nan: ", ONE | {"eval_mass": [but(3, np.nan, SMALL.mass)]}, {}),
    ("eval_set[0]: mass has shape (2000, 2)", ONE | {"eval_mass": [PAIRS]}, {}),
    ("eval_set[0]: weight[3] = inf: ", ONE | {"eval_sample_weight": [but(3, np.inf)]}, {}),
    ("eval_set[0]: y[9] = 2.0: ", ONE | {"eval_set": [(SMALL.features, but(9, 2, SMALL.label))]}, {}),
    ("eval_set[0]: X has 1 features", ONE | {"eval_set": [(SMALL.features[:, :1], SMALL.label)]}, {}),
]


@pytest.mark.parametrize("message, given, parameters", OF_CLASSIFIER, ids=[case[0] for case in OF_CLASSIFIER])
def test_arguments_of_the_classifier(library, message, given, parameters):
    refused(message, fitted, library, given=given, **parameters)


def test_metrics(library):
    known, unknown = (library.data(*ITS) for _ in range(2))
    margin = np.linspace(-1, 1, EVENTS)
    refused("metric has no masses for a data set of 2000 rows", library.metric({known: SMALL.mass}), margin, unknown)
    for of_data, message in (
        (SMALL.mass[1:], "mass has length 1999"),
        ((SMALL.mass, [1.0]), "weight has length 1"),
        ((SMALL.mass, but(4, np.nan)), "weight[4] = nan: "),
        ((SMALL.mass, -np.ones(EVENTS)), "the weights of the class of background sum to -1000"),
        (but(2, np.nan, SMALL.mass), "mass[2] = nan: "),
        (np.ones((EVENTS, 2)), "mass has shape (2000, 2): "),
    ):
        refused(message, library.metric({known: of_data}), margin, known)
    refused("masses is ndarray: ", library.metric, SMALL.mass, kind=TypeError)
    for of in ("auc", (), 3):
        refused(f"of = {of!r}: must be one or some of 'logloss'", library.metric, {}, of=of)
    refused("strength = None: give one if of has 'loss'", library.metric, {}, of="loss")
    refused("strength = 2: give one if of has 'loss', and only then", library.metric, {}, strength=2)
    refused("strength = -1: must be positive", library.metric, {}, of="loss", strength=-1)
    refused("events = 0: ", library.metric, {}, events=0)
    refused("background_label = 1 and", library.metric, {}, background_only=False, background_label=1)


def test_cv_says_what_to_do_instead():
    message = "mass has length 2000, but the training set has 1500 rows, whose own it must be. xgboost.cv and"
    refused(message, xgboost.cv, XGB.PARAMETERS, XGB.data(*ITS), 2, nfold=4, obj=XGB.objective(SMALL.mass))
    parameters = LGB.PARAMETERS | {"objective": LGB.objective(SMALL.mass)}
    refused(message, lightgbm.cv, parameters, LGB.data(*ITS), 2, nfold=4)


def test_a_distributed_training_of_lightgbm():
    """The parameters of the training are those that the objective sees."""
    for name in ("num_machines", "num_machine"):
        data = LGB.data(*ITS, params={name: 3})
        refused("one of 3 machines", LGB.objective(SMALL.mass), np.zeros(EVENTS), data, kind=RuntimeError)
    seen = []

    def watched(margin, data):
        seen.append(data.params["num_machines"])
        return np.zeros(EVENTS), np.ones(EVENTS)

    LGB.train(lightgbm.Dataset(*ITS), 1, watched, num_machines=1)
    assert seen == [1]


def test_a_distributed_training_of_xgboost():
    tracker = RabitTracker(n_workers=2, host_ip="127.0.0.1")
    tracker.start()

    def check(worker):
        with xgboost.collective.CommunicatorContext(**tracker.worker_args()):
            data = XGB.data(*ITS)
            for judge in (XGB.objective(SMALL.mass), XGB.metric({data: SMALL.mass})):
                refused("one of 2 processes", judge, np.zeros(EVENTS), data, kind=RuntimeError)

    with ThreadPoolExecutor(2) as workers:
        list(workers.map(check, range(2)))


def test_the_link_of_a_booster_of_lightgbm():
    finalize, booster = libmode.lightgbm.finalize, trained(LGB)
    refused("booster is MoDeLGBMClassifier: ", finalize, fitted(LGB), kind=TypeError)
    refused("init_score = inf: must be finite", finalize, booster, np.inf)
    refused("init_score is ndarray: ", finalize, booster, np.zeros(4), kind=TypeError)
    refused("the model has its own link", finalize, finalize(booster))
    refused("the booster has no trees", finalize, lightgbm.Booster(LGB.PARAMETERS, LGB.data(*ITS)))
    # A training that split nothing gives the prior.
    data = LGB.data(*ITS, start=np.full(EVENTS, 0.7))
    prior = LGB.train(data, 3, LGB.objective(SMALL.mass), min_sum_hessian_in_leaf=1e9)
    np.testing.assert_allclose(finalize(prior, 0.7).predict(SMALL.features), 1 / (1 + np.exp(-0.7)))
