"""MoDe in XGBoost: a classifier of scikit-learn, and an objective for ``xgboost.train`` and Dask.

Margins go in and probabilities come out, since the objective by name stays ``binary:logistic``: a saved
model is an ordinary one, which loads and predicts without libmode.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._messages import needed

with needed("xgboost", "libmode.xgboost", "xgboost"):
    import xgboost

with needed("sklearn", "libmode.xgboost", "xgboost"):
    from ._trees.classifier import BoostedClassifier, History, Training, described, of_parts

from scipy.special import expit

from ._trees.multipliers import checked
from ._trees.objective import Objective
from .option_types import LossOptions, Unpack

__all__ = ["MoDeXGBClassifier", "objective"]


def objective(
    mass: Any, *, weight: Any = None, label: Any = None, category: Any = None, background_only: bool = True,
    **options: Unpack[LossOptions],
) -> Objective:  # fmt: skip
    """Cross entropy and MoDe (arXiv:2010.09745) for ``obj=`` of ``xgboost.train``, as on Dask.

    Give ``"objective": "binary:logistic"`` with it, so that the model predicts probabilities, and ``base_score``, the
    share of signal. Every row of the training set counts in every round, for any ``subsample``. The push is MoDe's
    current gradient plus the sum over earlier rounds. So it grows until no dependence is left (docs/trees.md). Judge
    the booster by :func:`libmode.metrics.check` of other events.

    Parameters
    ----------
    mass : (n,) or (n, d) real numbers, in any unit, or "label_lower_bound" or "label_upper_bound"
        Of the rows of the training set, in their order, or the field of the DMatrix that has them, as on Dask.
    weight : (n,) real numbers of either sign, or such a field, optional
        For cross entropy and MoDe; by default the weights of the DMatrix, which cannot be negative. XGBoost's
        thresholds are in units of the weights.
    label : (n,) integers, optional
        Labels for ``background_label``, to tell several backgrounds apart; by default the 0 and 1 of the DMatrix.
    category : (n,) integers, optional
        As for :func:`libmode.mode_loss`.
    background_only : bool, default True
        False applies MoDe to all events, signal too (fairness), without ``label`` and ``background_label``.
    **options
        Those of :func:`libmode.mode_loss` except ``score_range``. By default there are up
        to 128 bins, with at least 250 events each.

    Returns
    -------
    callable
        For ``obj=``. Its attribute ``settled`` is the number of rounds after which the push had settled, so that a
        test with the training events sees no dependence; None before.

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
    >>> booster = xgboost.train(parameters, xgboost.DMatrix(x, label), num_boost_round=80, obj=mode)
    >>> mode.settled
    60
    """
    settings = checked(background_only, options)
    return Objective(settings, mass=mass, weight=weight, label=label, category=category)


class MoDeXGBClassifier(BoostedClassifier):
    __doc__ = described("XGBoost", "MoDeXGBClassifier", "json")

    _stops = xgboost.callback.EarlyStopping
    _forest = ("booster", "dart", "gblinear")
    _names = {"eta": "learning_rate", "lambda": "reg_lambda", "seed": "random_state", "nthread": "n_jobs"}
    _names["num_boost_round"] = "n_estimators"
    _own = ("objective", "scale_pos_weight", "base_score", "num_class", "eval_metric", "disable_default_eval_metric")

    @staticmethod
    def _unknown(parameters: Mapping[str, Any]) -> list[str]:
        """XGBoost trains with names that it does not know, and only warns of them, unless it is silent."""
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            settings = {**parameters, "num_feature": 1, "validate_parameters": True, "verbosity": 1}
            xgboost.Booster(settings).save_config()
        unused = re.search(r"Parameters: {(.*)} are not used", "".join(str(each.message) for each in said))
        return re.findall(r'"(\w+)"', unused[1]) if unused else []

    def _data(self, features: NDArray[Any], label: Any = None) -> xgboost.DMatrix:
        names = getattr(self, "feature_names_in_", None)
        return xgboost.DMatrix(features, label, feature_names=None if names is None else names.tolist())

    def _train(self, training: Training, callbacks: list[Any], verbose: bool | int) -> History:
        if (count := xgboost.collective.get_world_size()) > 1:
            raise of_parts(count, "processes")
        own = {"objective": "binary:logistic", "disable_default_eval_metric": True}
        own |= {"base_score": float(expit(training.start)), **training.parameters}
        data, *sets = [self._data(*arrays) for arrays in training.arrays]
        stopping, history = training.stopping, History()
        if stopping:
            over = stopping.over

            class Stop(xgboost.callback.TrainingCallback):  # type: ignore[misc]
                def after_iteration(self, model: Any, epoch: int, evals_log: Any) -> bool:
                    return over(epoch)

            callbacks = [*callbacks, Stop()]
        booster = xgboost.train(
            own,
            data,
            training.rounds,
            obj=training.objective,
            evals=[(one, f"validation_{k}") for k, one in enumerate(sets)],
            custom_metric=training.metric(sets) if sets else None,
            evals_result=history,
            verbose_eval=verbose,
            callbacks=callbacks,
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
