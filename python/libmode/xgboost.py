"""MoDe in XGBoost: an objective, a metric, and a classifier of scikit-learn.

Margins go in and probabilities come out, since the objective by name stays ``binary:logistic``: a saved
model is an ordinary one, which loads and predicts without libmode.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from ._messages import needed

with needed("xgboost", "libmode.xgboost", "xgboost"):
    import xgboost

with needed("sklearn", "libmode.xgboost", "xgboost"):
    from ._trees.classifier import BoostedClassifier, Called, Trained, described

from ._trees.collective import Workers
from ._trees.metric import USUAL_EVENTS, Metric, Stopping
from ._trees.multipliers import Alone, ScoreTransform, checked
from ._trees.objective import Objective, Rows, Verdict, judged, refuse_parts
from ._typing import Unpack
from .option_types import LossOptions

__all__ = ["MoDeXGBClassifier", "metric", "objective"]


def objective(
    mass: Any,
    *,
    weight: Any = None,
    label: Any = None,
    category: Any = None,
    loss_weight: float | None = None,
    tolerance: float | None = None,
    score_transform: ScoreTransform = "odds",
    background_only: bool = True,
    **options: Unpack[LossOptions],
) -> Objective:
    """Cross entropy and MoDe (arXiv:2010.09745) for ``obj=`` of ``xgboost.train``.

    Give ``"objective": "binary:logistic"`` with it, so that the model predicts probabilities, and ``base_score``, the
    share of signal. Every row of the training set counts in every round, for any ``subsample``.

    Without ``loss_weight`` the push is MoDe's current gradient plus the sum over earlier rounds. So it grows until no
    dependence is left (docs/trees.md). With it the gradient is the derivative of::

        sum_i w_i cross entropy_i + loss_weight sum_i w_i L

    and Newton's steps are bounded by the ``hess`` of :func:`libmode.mode_evaluate`.

    Parameters
    ----------
    mass : (n,) or (n, d) real numbers, in any unit, or "label_lower_bound" or "label_upper_bound"
        Of the rows of the training set, in their order, or the field of the DMatrix that has them, as on Dask.
    weight : (n,) real numbers of either sign, or such a field, optional
        For cross entropy and MoDe; by default the weights of the DMatrix, which cannot be negative. XGBoost's
        thresholds are in units of the weights, so a mean size below 1e-3 gives a warning.
    label : (n,) integers, optional
        Labels for ``background_label``, to tell several backgrounds apart; by default the 0 and 1 of the DMatrix.
    category : (n,) integers, optional
        As for :func:`libmode.mode_loss`.
    loss_weight : float, optional
        A fixed weight of the loss. By default None: the push finds what is needed.
    tolerance : float, optional
        Without ``loss_weight``: the push stops growing while a test with so many background events sees no dependence.
    score_transform : {"odds", None}, default "odds"
        "odds" applies MoDe to W(s) = 0.3 s/(1.3 - s), about the odds, so that tight cuts count more; None, to the
        scores s.
    background_only : bool, default True
        False applies MoDe to all events, signal too (fairness), without ``label`` and ``background_label``.
    **options
        Those of :func:`libmode.mode_loss` except ``score_range``. By default there are up
        to 128 bins, with at least 250 events each.

    Returns
    -------
    Objective
        Callable; ``settled`` is the round in which the push settled, or None.

    Raises
    ------
    ValueError, TypeError
        At once for bad options, and in the first round for arrays that do not fit the training set, and labels
        other than 0 and 1. On several workers an error of one is an error of all.

    Examples
    --------
    >>> import numpy as np
    >>> import xgboost
    >>> from libmode.xgboost import objective
    >>> rng = np.random.default_rng(1)
    >>> label, mass = rng.integers(0, 2, 4_000), rng.uniform(50, 300, 4_000)  # 0 is background
    >>> x = np.column_stack([mass, rng.normal(label)])
    >>> parameters = {"objective": "binary:logistic", "base_score": label.mean(), "max_depth": 3, "nthread": 1}
    >>> mode = objective(mass, order=1)
    >>> booster = xgboost.train(parameters, xgboost.DMatrix(x, label), num_boost_round=20, obj=mode)
    >>> probability = booster.predict(xgboost.DMatrix(x))
    >>> bool(probability.min() > 0), bool(probability.max() < 1), booster.num_boosted_rounds()
    (True, True, 20)
    """
    settings = checked(loss_weight, tolerance, score_transform, background_only, options)
    return _Objective(mass, weight, label, category, settings)


def metric(
    masses: Mapping[Any, Any] | Iterable[tuple[Any, Any]],
    *,
    of: str | Iterable[str] = "inverse_sensitivity",
    events: float = USUAL_EVENTS,
    signal_efficiency: float | None = None,
    background_efficiency: float | None = None,
    background_only: bool = True,
    objective: Objective | None = None,
    **options: Unpack[LossOptions],
) -> Metric:
    """Judges evaluation sets, as ``custom_metric=`` of ``xgboost.train`` next to :func:`objective`.

    Parameters
    ----------
    masses : mapping or pairs
        From each DMatrix of ``evals`` to the masses of its rows, or to a tuple of masses and weights. A missing
        DMatrix is an error.
    of : names, or one
        Smaller is better for all of them, and early stopping uses the last:

        - ``"inverse_sensitivity"``: 1 over the ``sensitivity`` of :func:`libmode.metrics.check`, which falls as the
          classifier gets better and rises if it sculpts a bump.
        - ``"dependence"``: rho, at most 1 if a test with ``events`` background events sees no dependence.
        - ``"logloss"``: the mean cross entropy.
    events : float
        N, of rho.
    signal_efficiency, background_efficiency : float, optional
        The working point of the sensitivity, by default a signal efficiency of 0.5.
    background_only : bool, default True
        For rho, as for :func:`objective`. The sensitivity is always for signal over background.
    objective : what :func:`objective` returned, optional
        Until its push has settled, ``"inverse_sensitivity"`` is a million minus the number of rounds. This falls, so
        that early stopping waits. ``objective.settled`` is the round then.
    **options
        Those of :func:`libmode.mode_loss`.

    Returns
    -------
    callable
        ``judge(predictions, dmatrix)`` gives a list of (name, value).

    Raises
    ------
    ValueError, TypeError
        At once for bad options, later for a DMatrix whose masses are not known or do not fit.
    RuntimeError
        On one of several workers, which sees a part of the rows.

    Examples
    --------
    >>> import numpy as np
    >>> import xgboost
    >>> from libmode.xgboost import metric
    >>> validation = xgboost.DMatrix(np.zeros((4, 1)), [0, 0, 1, 1])
    >>> judge = metric({validation: [60, 70, 80, 90]}, of="logloss", order=1)
    >>> [(name, round(value, 3)) for name, value in judge(np.zeros(4), validation)]
    [('logloss', 0.693)]
    """
    settings = checked(None, None, None, background_only, options)
    point = {"signal_efficiency": signal_efficiency, "background_efficiency": background_efficiency}
    return Metric(_read_all_rows, masses, of, events, settings, judged(settings, None, point), objective)


def _read_rows(data: xgboost.DMatrix) -> Rows:
    weight = data.get_weight()
    return Rows(np.asarray(data.get_label()), weight if len(weight) else None)


class _Objective(Objective):
    _read_rows = staticmethod(_read_rows)

    @staticmethod
    def _find_workers() -> Alone:
        return Workers() if xgboost.collective.get_world_size() > 1 else Alone()

    @staticmethod
    def _callback(verdict: Verdict) -> Any:
        return _Judge(verdict)


class _Judge(xgboost.callback.TrainingCallback):  # type: ignore[misc]
    """Judges the trees in the end."""

    def __init__(self, verdict: Verdict) -> None:
        super().__init__()
        self._verdict = verdict

    def before_training(self, model: Any) -> Any:
        own = json.loads(model.save_config())["learner"]["objective"].get("reg_loss_param", {})
        if float(own.get("scale_pos_weight", 1)) != 1:
            raise ValueError(
                f"scale_pos_weight = {own['scale_pos_weight']} has no effect with the objective of libmode: leave it "
                "out. Class weights change no selection"
            )
        return model

    def after_training(self, model: Any) -> Any:
        best = model.attr("best_iteration")
        rounds = (0, 0 if best is None else int(best) + 1)
        margin = model.predict(self._verdict.features, output_margin=True, iteration_range=rounds)
        self._verdict(margin, None if best is None else int(best))
        return model


def _read_all_rows(data: xgboost.DMatrix) -> Rows:
    refuse_parts(xgboost.collective.get_world_size(), "processes")
    return _read_rows(data)


class _Callback(xgboost.callback.TrainingCallback):  # type: ignore[misc]
    """Stops a training."""

    def __init__(self, stopping: Stopping) -> None:
        super().__init__()
        self._stopping = stopping

    def after_iteration(self, model: Any, epoch: int, evals_log: Any) -> bool:
        data, name = self._stopping.of
        return self._stopping.over(epoch, evals_log[data][name][-1])


class MoDeXGBClassifier(BoostedClassifier):
    __doc__ = described("XGBoost", "MoDeXGBClassifier", "json")

    _objective = _Objective
    _stops, _callback = xgboost.callback.EarlyStopping, _Callback
    _forest = ("booster", "dart", "gblinear")
    _own = ("objective", "scale_pos_weight", "base_score", "num_class", "eval_metric", "disable_default_eval_metric")

    @staticmethod
    def _main_name(name: str) -> str:
        return _OTHER_NAMES.get(name, name)  # of one that it does not know XGBoost itself warns

    def _data(
        self, features: NDArray[Any], label: Any, names: list[str] | None, start: float = 0.0, reference: Any = None
    ) -> xgboost.DMatrix:
        kinds = ["c" if place in self._categories else "q" for place in range(features.shape[1])]
        taken = self.parameters.get("enable_categorical", True)
        return xgboost.DMatrix(features, label, feature_names=names, feature_types=kinds, enable_categorical=taken)

    def _train(self, parameters: dict[str, Any], data: Any, sets: list[Any], start: float, called: Called) -> Trained:
        history: dict[str, dict[str, list[float]]] = {}
        parameters.pop("enable_categorical", None)  # of the data
        own = {"objective": "binary:logistic", "disable_default_eval_metric": True, "base_score": float(expit(start))}
        booster = xgboost.train(
            {**own, **parameters},
            data,
            called.rounds,
            obj=called.objective,
            evals=[(one, f"validation_{k}") for k, one in enumerate(sets)],
            custom_metric=called.metric,
            evals_result=history,
            verbose_eval=called.verbose,
            callbacks=called.callbacks,
        )
        return booster, history

    @staticmethod
    def _first(booster: xgboost.Booster, start: float, rounds: int | None) -> xgboost.Booster:
        return booster if rounds is None else booster[:rounds]  # gblinear has no part

    def _margins(self, features: NDArray[Any]) -> NDArray[Any]:
        data = self._data(features, None, self.booster_.feature_names)
        return np.asarray(self.booster_.predict(data, output_margin=True))

    def _gains(self) -> NDArray[Any]:
        gains: Any = self.booster_.get_score(importance_type="total_gain")
        names = self.booster_.feature_names or [f"f{place}" for place in range(self.n_features_in_)]
        return np.array([gains.get(name, 0.0) for name in names])


#: XGBoost's other names of arguments of the classifier.
_OTHER_NAMES = {
    **{"eta": "learning_rate", "lambda": "reg_lambda", "seed": "random_state", "nthread": "n_jobs"},
    "num_boost_round": "n_estimators",
}
