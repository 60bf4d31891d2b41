"""The classifier of scikit-learn that XGBoost and LightGBM share."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from .._events import Events
from .._messages import level_of_the_user, near, shown
from .._options import TAKEN
from .._problems import Said, TrainingWarning
from .._read import as_array, number, of_one_index, real, together, variables, whole
from ..metrics._judge import keys
from ..metrics._sample import Settings as Judged
from .multipliers import Boosting, Settings, Stopping, Watched, checked, refuse_missing, sums_of_weights, unsettled

# The defaults of min_child_weight and reg_lambda, over the sum of the absolute weights. Trees with smaller leaves are
# flat on the events of the training, and not on others.
_LEAST_SHARE, _ADDED_SHARE = 0.002, 0.001
_LEAST_EVENTS, _LARGEST_SHARE = 60, 0.01  # a leaf has at least so many effective events, but no larger share
# With fewer events, twice those of the rarer class, deeper trees and more rounds know the background by heart
# (studies/trees). Early stopping chooses among more rounds.
_DEPTH, _DEPTH_OF_FEW, _FEW = 4, 3, 20_000
_LEAST_ROUNDS, _MOST_ROUNDS = 200, 500

# The arguments that both libraries take by these names.
_SHARED = ("learning_rate", "max_depth", "min_child_weight", "subsample", "colsample_bytree", "reg_lambda", "n_jobs")
# The share of the events that is kept to judge a training, the most of them, and the fewest background events. With a
# share by the user, at least so many events of each class are kept.
_KEPT, _MOST_KEPT, _FEWEST_KEPT, _LEAST_KEPT = 0.1, 20_000, 1_000, 50
_COPIED = 0.01  # an evaluation set with a larger share of rows of the training judges nothing
_SAID = Said()  # a search fits a classifier many times
_BY_HEART = (
    "Trees know their training events by heart: give more of them, early_stopping_rounds, fewer rounds or a lower "
    "max_depth"
)

_DESCRIPTION = """A classifier of {library} that keeps the response to background smooth in the mass.

    Cross entropy and the MoDe loss (arXiv:2010.09745) by the method of multipliers (docs/trees.md): the push grows
    until no dependence is left, and there is no strength to guess. ``booster_`` is an ordinary
    {booster}, whose saved model predicts the same without libmode.

    Parameters
    ----------
    order, background_only
        As for :func:`libmode.xgboost.objective`. Without ``order`` fit is an error.
    n_estimators : int, optional
        Rounds: by default 200 with up to 20,000 events, twice those of the rarer class, more as the root of their
        number, and 500 above 125,000 and with early stopping. The push needs 60.
    learning_rate, max_depth, subsample, colsample_bytree
        0.15; 4, and 3 with fewer than 20,000 events; 1; 1, by default. MoDe always sees all rows.
    min_child_weight, reg_lambda : float, optional
        The least sum of Hessians in a leaf, in units of the mean size of the weights, and what is added to it. By
        default 0.2 % of the number of events, and at least 60 effective events, or 1 % of fewer than 6,000; 0.1 %.
    early_stopping_rounds : int, optional
        Stop where the ``sensitivity`` of ``check_`` has not grown for so many rounds, and predict with the best. With
        several variables of mass, or without ``background_only``, the logloss decides. A round counts after the push
        has settled, and one that is not flat only if no round is flat.
    signal_efficiency, background_efficiency : float, or several, optional
        The working point of ``check_`` and of early stopping, by default a signal efficiency of 0.5. Without
        ``background_only`` it is a share of all events.
    validation_fraction : float, "auto" or None
        The share of the events that fit keeps without ``eval_set`` for ``check_`` and early stopping, or none. "auto":
        a tenth, at most 20,000, if 1,000 of them are background.
    events : float, optional
        N, the background events of the search, for ``check_``; by default as many as judge.
    random_state, n_jobs
        As for every estimator of scikit-learn.
    **parameters
        Further options of the MoDe loss, whose ``background_label`` is the class of background in ``y``, and further
        parameters of {library}, by their own names. What {library} ignores with an objective is an error.

    Attributes
    ----------
    booster_ : {booster}
        Up to the best round, where early stopping found one.
    classes_ : (2,), as sorted by NumPy: usually background and signal
    check_ : :class:`libmode.metrics.Check` or None
        What the last of ``eval_set``, or the events that fit kept, say of the finished trees; None without such events.
    evals_result_ : dict
        By the names validation_0, ... a list for each of logloss and, unless that stops, inverse_sensitivity.
    best_iteration_ : int or None
        The best round of early stopping, counted from 0 as {library} does: ``booster_`` has one round more.
    settled_round_ : int or None
        The number of rounds after which the push had settled, and so the least ``best_iteration_ + 1``.
    feature_importances_ : (features,), the share of each feature in the gain of all splits

    Examples
    --------
    >>> import numpy as np
    >>> from libmode.{module} import {name}
    >>> rng = np.random.default_rng(1)
    >>> y, mass = rng.integers(0, 2, 4_000), rng.uniform(50, 300, 4_000)  # 0 is background
    >>> X = np.column_stack([mass, rng.normal(y)])
    >>> classifier = {name}(order=1, max_slope=1, n_estimators=80, n_jobs=1).fit(X, y, mass=mass)
    >>> classifier.predict_proba(X).shape, classifier.decision_function(X).shape, classifier.set_params(order=2).order
    ((4000, 2), (4000,), 2)
    >>> bool(np.mean(classifier.predict(X) == y) > 0.6), classifier.get_params()["max_slope"]
    (True, 1)
    >>> bool(classifier.feature_importances_.argmax() == 1)  # what separates the signal
    True
    >>> classifier.save_model("model.{ending}")  # {library} itself reads it
    """


def described(library: str, name: str, ending: str) -> str:
    """The docstring of a classifier of this name, whose library writes models to files of this ending."""
    module = library.lower()
    return _DESCRIPTION.format(library=library, module=module, booster=f"{module}.Booster", name=name, ending=ending)


#: The features and the other arrays of events, whose scores are their labels: 1 for signal, 0 for background.
Set = tuple[NDArray[Any], Events]
#: The values of evaluation sets, by set and name.
History = dict[str, dict[str, list[float]]]


class Training(NamedTuple):
    """What a library trains."""

    parameters: dict[str, Any]
    rounds: int
    start: float  #: the margin to begin with
    arrays: list[tuple[NDArray[Any], NDArray[Any]]]  #: features and labels of the training and the evaluation sets
    objective: Boosting
    watched: list[Watched]  #: the evaluation sets
    stopping: Stopping | None

    def metric(self, sets: Iterable[Any]) -> Callable[[Any, Any], list[tuple[str, float]]]:
        """The values of the library's data sets, which are the evaluation sets."""
        known = {id(data): watched for data, watched in zip(sets, self.watched, strict=True)}
        return lambda margin, data: known[id(data)].values(np.asarray(margin))


class BoostedClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A subclass for each library trains, and returns margins, log(p/(1 - p))."""

    _stops: type  # the library's own callback of early stopping
    _forest: tuple[str, ...]  # a parameter, and its values with which later rounds change earlier trees
    _own: tuple[str, ...]  # parameters that the classifier sets, or that have no effect with an objective
    _names: Mapping[str, str]  # the name of a parameter here, or the library's main one, by its other names
    _unknown: Callable[..., list[str]]  # which of these parameters the library has not
    # Sets booster_, and returns the values by evaluation set; takes Training, callbacks and verbose.
    _train: Callable[..., History]
    _margins: Callable[..., NDArray[Any]]  # takes features
    _gains: Callable[..., NDArray[Any]]  # the gain of the splits of each feature

    def __init__(
        self, *, order: int | None = None, background_only: bool = True, n_estimators: int | None = None,
        learning_rate: float = 0.15, max_depth: int | None = None, min_child_weight: float | None = None,
        subsample: float = 1.0, colsample_bytree: float = 1.0, reg_lambda: float | None = None,
        early_stopping_rounds: int | None = None, signal_efficiency: float | Sequence[float] | None = None,
        background_efficiency: float | Sequence[float] | None = None,
        validation_fraction: float | Literal["auto"] | None = "auto", events: float | None = None,
        random_state: Any = None, n_jobs: int | None = None, **parameters: Any,
    ) -> None:  # fmt: skip
        self.order = order
        self.background_only = background_only
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.max_depth = max_depth
        self.min_child_weight = min_child_weight
        self.subsample = subsample
        self.colsample_bytree = colsample_bytree
        self.reg_lambda = reg_lambda
        self.early_stopping_rounds = early_stopping_rounds
        self.signal_efficiency = signal_efficiency
        self.background_efficiency = background_efficiency
        self.validation_fraction = validation_fraction
        self.events = events
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.parameters = parameters

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """All arguments by name."""
        return {**super().get_params(deep), **self.parameters}

    def set_params(self, **params: Any) -> Any:
        """Sets arguments by name, also options of the loss and parameters of the library."""
        own = {name: params.pop(name) for name in self._get_param_names() if name in params}
        self.parameters = {**self.parameters, **params}  # a copy of the estimator has the same dictionary
        return super().set_params(**own)

    def fit(
        self, X: Any, y: Any, *, mass: Any, sample_weight: Any = None, category: Any = None,
        eval_set: Sequence[tuple[Any, Any]] | None = None, eval_mass: Sequence[Any] | None = None,
        eval_sample_weight: Sequence[Any] | None = None, eval_category: Sequence[Any] | None = None,
        callbacks: Sequence[Any] | None = None, verbose: bool | int = False,
    ) -> BoostedClassifier:  # fmt: skip
        """Trains on n events.

        Parameters
        ----------
        X : (n, features) numbers, NaN where one is missing
            Encode categories as numbers, by ``sklearn.preprocessing.OneHotEncoder`` for instance.
        y : (n,) of two classes
            The background is ``background_label``, which strings need, or the first by NumPy's order: 0 of 0 and 1.
        mass, category
            As for :func:`libmode.xgboost.objective`.
        sample_weight : (n,) of either sign, optional
            A common factor changes nothing.
        eval_set : list of (X, y), optional
        eval_mass, eval_sample_weight, eval_category : lists of their arrays, optional
        callbacks : list, optional
            Of the library's own, without its early stopping, which knows nothing of the push.
        verbose : bool or int, default False
            Whether to print the values of the evaluation sets; a number, each so many rounds.

        Raises
        ------
        ValueError, TypeError, RuntimeError
            For arrays that do not fit each other, other than two classes, bad options, and parameters without effect;
            RuntimeError if the push has not settled in ``n_estimators``, so that early stopping finds no round.

        Warns
        -----
        TrainingWarning
            If ``check_`` is not flat, or ``eval_set`` is too small to tell or has rows of the training. If the push has
            not settled, and no other events say that the trees are flat. Once, if too little is kept to judge them.
        """
        events = self._read_events(X, y, mass, sample_weight, category, training=True)
        settings, parameters = self._checked(callbacks)
        lists = {"eval_mass": eval_mass, "eval_sample_weight": eval_sample_weight, "eval_category": eval_category}
        evaluated, name = self._evaluated(eval_set or (), lists, events, settings), "validation_fraction"
        if evaluated:
            name = f"eval_set[{len(evaluated) - 1}]"
            copied = self._has_rows_of(events, name, evaluated[-1])
        else:
            copied, (events, *evaluated) = False, self._kept(*events, settings, parameters["random_state"])
        training = self._training([events, *evaluated], settings, parameters)
        self.evals_result_ = self._train(training, list(callbacks or ()), verbose)
        self._judge(name, evaluated[-1] if evaluated and not copied else None, training)
        return self

    def _judge(self, name: str, last: Set | None, training: Training) -> None:
        """Judges the finished trees by the last evaluation set, and warns of what it says, or of the push."""
        objective, stopping, said = training.objective, training.stopping, []
        self.best_iteration_, self.settled_round_ = (stopping and stopping.best), objective.settled
        self.check_ = check = None
        if last is not None:
            self.check_ = check = objective.settings.judge(last[1])(self._margins(last[0]).astype(float))
        why = None if stopping and stopping.best is not None else unsettled(objective)
        if stopping and why:
            raise RuntimeError(
                f"early_stopping_rounds = {self.early_stopping_rounds}: no round can be the best, since {why}"
            )
        if check is not None and check.flat:
            return
        if check is not None and (check.flat is False or name != "validation_fraction"):
            said.append(f"{name}: {check.why}")
        if why or check is not None and check.flat is False:
            said.append(why or _BY_HEART)
        if said:
            warnings.warn(". ".join(said), TrainingWarning, stacklevel=level_of_the_user())
        elif check is not None or name == "validation_fraction" and self.validation_fraction is not None:
            few = "too few events for a tenth with 1,000 of background"
            few = few if check is None else f"the kept events cannot: {check.why}"
            _SAID.warn(
                "not judged",
                f"nothing judges whether the background is flat ({few}): give fit eval_set and eval_mass, or "
                "validation_fraction a number, or None where other events judge. This is said once",
            )

    def _checked(self, callbacks: Sequence[Any] | None) -> tuple[Settings, dict[str, Any]]:
        """The settings of the objective, and the parameters for the library by its names."""
        for callback in callbacks or ():
            if isinstance(callback, self._stops):
                raise ValueError(
                    f"callbacks has {type(callback).__name__}, which may stop before the push has settled: give "
                    f"early_stopping_rounds to the constructor, {type(self).__name__}(early_stopping_rounds=...)"
                )
        seed = 0 if self.random_state is None else int(check_random_state(self.random_state).randint(2**31 - 1))
        parameters = {name: getattr(self, name) for name in _SHARED} | {"random_state": seed}
        options = {} if self.order is None else {"order": self.order}
        others, ours = {}, self._get_param_names()
        for name, value in self.parameters.items():
            main = self._names.get(name, name)
            if name in TAKEN["mode"]:
                options[name] = value
            elif main in ours:
                raise TypeError(f"unknown parameter {name!r}: did you mean {main}?")
            elif main in self._own:
                raise TypeError(
                    f"parameter {name!r} has no effect in {type(self).__name__}, or is set by it: leave it out"
                )
            else:
                others[main] = value
        for name in self._unknown(others) if others else ():
            meant = near(name, {*ours, *TAKEN["mode"]})
            raise TypeError(f"unknown parameter {name!r}" + (f": did you mean {meant}?" if meant else ""))
        parameters |= others
        options.pop("background_label", None)  # a class of y: the labels of the loss are 1 for signal and 0
        settings = checked(self.background_only, options)
        for name, least in (("n_estimators", 1), ("early_stopping_rounds", 1), ("max_depth", None)):
            if getattr(self, name) is not None:
                whole(name, getattr(self, name), least)
        name, *changing = self._forest
        kind = str(parameters.get(name)).lower()
        if self.early_stopping_rounds is not None and kind in changing:
            raise ValueError(
                f"{name} = {kind!r} and early_stopping_rounds = {self.early_stopping_rounds}: the first trees are not "
                "the model of the best round; leave one of them out"
            )
        signal, background = self.signal_efficiency, self.background_efficiency
        if not self.background_only and (signal is None or background is None):  # a share of all events
            share = background if signal is None else signal
            signal, background = None, 0.5 if share is None else share
        search = None if self.events is None else number("events", self.events, above=0)
        points: dict[str, Any] = {"signal_efficiency": signal, "background_efficiency": background}
        judged = Judged(search_events=search, **points, **settings.options.of_check())
        return settings._replace(of_check=judged), parameters

    def _read_events(self, X: Any, y: Any, mass: Any, weight: Any, category: Any, training: bool = False) -> Set:
        """The training, or an evaluation set as the training had it."""
        of_one_index({"X": X, "y": y, "mass": mass, "sample_weight": weight, "category": category})
        kinds = zip(getattr(X, "columns", ()), getattr(X, "dtypes", ()), strict=False)
        if coded := [name for name, kind in kinds if getattr(kind, "name", None) == "category"]:
            raise TypeError(f"X[{coded[0]!r}] has the dtype category: encode it as numbers")
        X, y = self._read(X, y, training)
        if training:
            check_classification_targets(y)
            self.classes_ = np.unique(y)
            self._signal = 1 - self.classes_.tolist().index(self._background(y))
            if weight is not None:
                weight = _check_sample_weight(weight, X)
        elif not (known := np.isin(y, self.classes_)).all():
            place = int(np.argmin(known))
            raise ValueError(f"y[{place}] = {y.tolist()[place]!r}: the training had {self.classes_.tolist()}")
        label = (y == self.classes_[self._signal]).astype(np.float32)
        arrays = {"X": label, "mass": mass, "weight": weight, "category": category}
        label, mass, weight, category = together(as_array, variables, **arrays)
        sums_of_weights(label, weight)  # before a part is kept: its errors name places
        return X, Events(label, label.astype(int), mass, weight, category)

    def _background(self, y: NDArray[Any]) -> Any:
        """The class of background."""
        classes, asked = self.classes_.tolist(), self.parameters.get("background_label")
        if len(classes) != 2:
            raise ValueError(
                f"y has {len(classes)} class{'es' * (len(classes) != 1)} ({type_of_target(y)}): "
                "Only binary classification is supported, one class of background and one of signal"
            )
        if asked is None and isinstance(classes[0], (str, bytes)):
            raise ValueError(f"y has the classes {classes}: give background_label, the class of background")
        background = classes[:1] if asked is None else np.ravel(asked).tolist()
        if len(background) != 1 or background[0] not in classes:
            raise ValueError(
                f"background_label = {shown(asked)}: must be one of the classes of y, {classes}"
                + (", or give background_only=False to constrain both" if len(background) > 1 else "")
            )
        return background[0]

    def _evaluated(self, sets: Sequence[Any], lists: Mapping[str, Any], training: Set, settings: Settings) -> list[Set]:
        """The evaluation sets, from lists of masses, weights and categories; a mass that is missing is an error."""
        for name, arrays in lists.items():
            count = 0 if arrays is None else len(arrays)
            if count != len(sets) and (arrays is not None or name == "eval_mass"):
                raise ValueError(
                    f"{name} has length {count}, but eval_set has {len(sets)}: both are lists, eval_set one of (X, y), "
                    "with an entry for each evaluation set"
                )
        evaluated = []
        for k, (features, y) in enumerate(sets):
            try:
                arrays = (None if each is None else each[k] for each in lists.values())
                features, own = self._read_events(features, y, *arrays)
                if own.mass.shape[1:] != training[1].mass.shape[1:]:
                    raise ValueError(f"mass has shape {own.mass.shape}, but the training had {training[1].mass.shape}")
                refuse_missing(own.mass, settings.options)
                evaluated.append((features, own))
            except (TypeError, ValueError) as error:
                kind = TypeError if isinstance(error, TypeError) else ValueError
                raise kind(f"eval_set[{k}]: {error}") from None
        return evaluated

    def _has_rows_of(self, training: Set, name: str, last: Set) -> bool:
        """Whether an evaluation set has rows of the training, with a warning.

        Of values with few digits equal rows may be other events.
        """
        ours, others = (keys([*features.T, *np.atleast_2d(own.mass.T)]) for features, own in (training, last))
        known, counts = np.unique(ours, return_counts=True)
        copied = bool(np.isin(others, known).mean() > _COPIED + counts[counts > 1].sum() / len(ours))
        if copied:
            warnings.warn(
                f"{name} has rows of the training, mass included, so it judges nothing: trees know these events by "
                "heart. Give other events",
                TrainingWarning,
                stacklevel=level_of_the_user(),
            )
        return copied

    def _kept(self, X: NDArray[Any], events: Events, settings: Settings, seed: int) -> list[Set]:
        """The training without the events that are kept to judge it, and these."""
        share, count = self.validation_fraction, len(X)
        automatic = isinstance(share, str) and share == "auto"
        if share is not None and not automatic and not 0 < real("validation_fraction", share) < 1:
            raise ValueError(f'validation_fraction = {shown(share)}: must be "auto", None, or between 0 and 1')
        part = min(_KEPT, _MOST_KEPT / count) if automatic else float(share or 0)
        strata = events.label if events.category is None else 2 * events.category + events.label
        order = np.random.default_rng(seed).permutation(count)
        order = order[np.argsort(strata[order], kind="stable")]
        kept = np.zeros(count, bool)
        kept[order[np.diff(np.floor(np.arange(count + 1) * part)) > 0]] = True
        if not part or automatic and np.count_nonzero(events.label[kept] == 0) < _FEWEST_KEPT:
            if self.early_stopping_rounds is not None:
                raise ValueError(
                    f"early_stopping_rounds = {self.early_stopping_rounds}: give eval_set and eval_mass, or a number "
                    "as validation_fraction"
                )
            return [(X, events)]
        of_signal = np.count_nonzero(events.label[kept])
        if min(of_signal, kept.sum() - of_signal) < _LEAST_KEPT:
            raise ValueError(
                f"validation_fraction = {shown(share)}: keeps {kept.sum()} of {count} events, {of_signal} of them "
                f"signal: expected at least {_LEAST_KEPT} of signal and of background"
            )
        refuse_missing(events.mass, settings.options)  # while places are the user's
        parts = [(X[some], events.where(some)) for some in (~kept, kept)]
        for _, own in parts:
            sums_of_weights(own.label, own.weight, f"validation_fraction = {shown(share)}: ")
        return parts

    def _training(self, sets: list[Set], settings: Settings, parameters: dict[str, Any]) -> Training:
        """What the library trains with the first of the sets: trees by the number of effective events."""
        (_, events), *evaluated = sets
        label, patience = events.score, self.early_stopping_rounds
        of_background, of_signal = sums_of_weights(label, events.weight)
        # Classes of equal weight: class weights move all margins by a constant, which changes no selection.
        weight = (1.0 if events.weight is None else events.weight) / np.where(label == 1, of_signal, of_background)
        # The thresholds of the libraries are in units of the weights, whose own mean could be 0 or negative.
        weight *= np.count_nonzero(weight) / np.abs(weight).sum()
        size = np.abs(weight).sum()
        effective = [own.sum() ** 2 / (own @ own) for own in (weight[label == 0], weight[label == 1])]
        few = 2 * min(effective)
        usual = int(np.clip(_LEAST_ROUNDS * math.sqrt(few / _FEW), _LEAST_ROUNDS, _MOST_ROUNDS))
        rounds = self.n_estimators or (usual if patience is None else _MOST_ROUNDS)
        defaults = {
            "max_depth": _DEPTH_OF_FEW if few < _FEW else _DEPTH,
            "min_child_weight": float(max(_LEAST_SHARE, min(_LEAST_EVENTS / sum(effective), _LARGEST_SHARE)) * size),
            "reg_lambda": float(_ADDED_SHARE * size),
        }
        start = math.log(of_signal / of_background)
        settings = settings._replace(prior=start, rounds=rounds, stopped=patience is not None)
        background = events.label if self.background_only else None
        objective = Boosting(settings, events._replace(label=background, weight=weight))
        by_sensitivity = self.background_only and events.mass.ndim == 1
        watched = [Watched(settings, one, by_sensitivity) for _, one in evaluated]
        return Training(
            defaults | {name: value for name, value in parameters.items() if value is not None},
            rounds,
            start,
            [(features, one.score) for features, one in sets],
            objective,
            watched,
            None if patience is None else Stopping(patience, objective, watched[-1]),
        )

    def _read(self, X: Any, y: Any = "no_validation", reset: bool = False) -> Any:
        """Features, and labels if given, with the columns of the training."""
        kinds = [np.float32, np.float64]
        return validate_data(self, X, y, reset=reset, dtype=kinds, ensure_all_finite="allow-nan")

    def decision_function(self, X: Any) -> NDArray[Any]:
        """log(p/(1 - p)), p the probability of ``classes_[1]``, of shape (n,)."""
        check_is_fitted(self)
        margin = self._margins(self._read(X))
        return margin if self._signal else -margin

    def predict_proba(self, X: Any) -> NDArray[Any]:
        """Probabilities of ``classes_``, of shape (n, 2)."""
        margin = self.decision_function(X).astype(float)
        return np.column_stack([expit(-margin), expit(margin)])

    def predict(self, X: Any) -> NDArray[Any]:
        """The class of the higher probability, of shape (n,)."""
        above = self.decision_function(X) > 0
        return np.asarray(self.classes_[above.astype(int)])

    @property
    def feature_importances_(self) -> NDArray[Any]:
        """The gain of the splits of each feature, of shape (features,), with the sum 1."""
        check_is_fitted(self)
        gain = self._gains()
        return gain / (gain.sum() or 1.0)

    def save_model(self, path: Any) -> None:
        """Writes the booster to a file of this path, which the library loads without libmode."""
        check_is_fitted(self)
        self.booster_.save_model(path)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.classifier_tags.multi_class = False
        return tags


def of_parts(count: int, kind: str) -> RuntimeError:
    """The error of a training on several machines or processes, each of which has only some of the rows."""
    return RuntimeError(
        f"this is one of {count} {kind} of a distributed training, and sees only its own rows, but MoDe needs all of "
        "them: train on one machine, or take a sample of the rows"
    )
