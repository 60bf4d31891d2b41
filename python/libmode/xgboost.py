"""MoDe in XGBoost: an objective, a metric, and a classifier of scikit-learn.

Margins go in and probabilities come out, since the objective by name stays ``binary:logistic``: a saved
model is an ordinary one, which loads and predicts without libmode.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from ._messages import needed

with needed("xgboost", "libmode.xgboost", "xgboost"):
    import xgboost

with needed("sklearn", "libmode.xgboost", "xgboost"):
    from ._trees.classifier import BoostedClassifier, History, Training, described

from ._trees.collective import Workers
from ._trees.metric import Metric, Stopping
from ._trees.objective import Alone, Objective, of_parts

__all__ = ["MoDeXGBClassifier", "metric", "objective"]


def _read_rows(data: xgboost.DMatrix) -> tuple[NDArray[Any], NDArray[Any] | None]:
    weight = data.get_weight()
    return np.asarray(data.get_label()), weight if len(weight) else None


class objective(Objective):
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

    Attributes
    ----------
    settled : int or None
        The number of rounds after which the push had settled: a test with the training events sees no dependence. 0
        with a fixed loss_weight, None before.
    check_ : :class:`libmode.metrics.Check` or None
        What the events of :meth:`judge` say of the finished trees.

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
    >>> label, mass = rng.integers(0, 2, 8_000), rng.uniform(50, 300, 8_000)  # 0 is background
    >>> x = np.column_stack([mass, rng.normal(label)])
    >>> parameters = {"objective": "binary:logistic", "base_score": label.mean(), "max_depth": 3, "nthread": 1}
    >>> mode = objective(mass, order=1)
    >>> judge = mode.judge(xgboost.DMatrix(x), label, mass)  # better: other events
    >>> data = xgboost.DMatrix(x, label)
    >>> booster = xgboost.train(parameters, data, num_boost_round=80, obj=mode, callbacks=[judge])
    >>> probability = booster.predict(xgboost.DMatrix(x))
    >>> bool(probability.min() > 0), bool(probability.max() < 1), mode.settled, mode.check_.flat
    (True, True, 60, True)
    """

    _read_rows = staticmethod(_read_rows)

    @staticmethod
    def _find_workers() -> Alone:
        return Workers() if xgboost.collective.get_world_size() > 1 else Alone()

    @staticmethod
    def _callback(features: Any, judge: Callable[[Any, int | None], None]) -> Any:
        return _Judge(features, judge)


class _Judge(xgboost.callback.TrainingCallback):  # type: ignore[misc]
    """Judges the trees in the end."""

    def __init__(self, features: Any, judge: Callable[[Any, int | None], None]) -> None:
        super().__init__()
        self._features, self._judge = features, judge

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
        margin = model.predict(self._features, output_margin=True, iteration_range=rounds)
        self._judge(margin, None if best is None else int(best))
        return model


class metric(Metric):
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

    @staticmethod
    def _read_rows(data: xgboost.DMatrix) -> tuple[NDArray[Any], NDArray[Any] | None]:
        if (count := xgboost.collective.get_world_size()) > 1:
            raise of_parts(count, "processes")
        return _read_rows(data)


class _Stop(xgboost.callback.TrainingCallback):  # type: ignore[misc]
    """Stops a training."""

    def __init__(self, stopping: Stopping) -> None:
        super().__init__()
        self._stopping = stopping

    def after_iteration(self, model: Any, epoch: int, evals_log: Any) -> bool:
        return self._stopping.over(epoch)


class MoDeXGBClassifier(BoostedClassifier):
    __doc__ = described("XGBoost", "MoDeXGBClassifier", "json")

    _stops = xgboost.callback.EarlyStopping
    _forest = ("booster", "dart", "gblinear")
    _own = ("objective", "scale_pos_weight", "base_score", "num_class", "eval_metric", "disable_default_eval_metric")

    @staticmethod
    def _main_name(name: str) -> str:
        return _OTHER_NAMES.get(name, name)  # of one that it does not know XGBoost itself warns

    def _data(self, features: NDArray[Any], label: Any = None) -> xgboost.DMatrix:
        names = getattr(self, "feature_names_in_", None)
        return xgboost.DMatrix(
            features,
            label,
            feature_names=None if names is None else names.tolist(),
            feature_types=["c" if place in self._categories else "q" for place in range(features.shape[1])],
            enable_categorical=self.parameters.get("enable_categorical", True),
        )

    def _train(self, training: Training, callbacks: list[Any], verbose: bool | int) -> History:
        if (count := xgboost.collective.get_world_size()) > 1:
            raise of_parts(count, "processes")
        own = {"objective": "binary:logistic", "disable_default_eval_metric": True}
        own |= {"base_score": float(expit(training.start)), **training.parameters}
        own.pop("enable_categorical", None)  # of the data
        data, *sets = [self._data(*arrays) for arrays in training.arrays]
        stopping, history = training.stopping, History()
        booster = xgboost.train(
            own,
            data,
            training.rounds,
            obj=training.objective,
            evals=[(one, f"validation_{k}") for k, one in enumerate(sets)],
            custom_metric=training.metric(sets) if sets else None,
            evals_result=history,
            verbose_eval=verbose,
            callbacks=[*callbacks, *([_Stop(stopping)] if stopping else [])],
        )
        # gblinear has no part
        self.booster_ = booster if not stopping or stopping.best is None else booster[: stopping.best + 1]
        return history

    def _margins(self, features: NDArray[Any]) -> NDArray[Any]:
        return np.asarray(self.booster_.predict(self._data(features), output_margin=True))

    def _gains(self) -> NDArray[Any]:
        gains: Any = self.booster_.get_score(importance_type="total_gain")
        names = self.booster_.feature_names or [f"f{place}" for place in range(self.n_features_in_)]
        return np.array([gains.get(name, 0.0) for name in names])


#: XGBoost's other names of arguments of the classifier.
_OTHER_NAMES = {
    **{"eta": "learning_rate", "lambda": "reg_lambda", "seed": "random_state", "nthread": "n_jobs"},
    "num_boost_round": "n_estimators",
}
