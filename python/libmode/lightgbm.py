"""MoDe in LightGBM: an objective, a metric, and a classifier of scikit-learn.

LightGBM forgets the link of a custom objective; :func:`finalize` writes it into the model, which then
predicts probabilities, and without libmode.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._messages import needed
from ._read import number, whole

with needed("lightgbm", "libmode.lightgbm", "lightgbm"):
    import lightgbm

with needed("sklearn", "libmode.lightgbm", "lightgbm"):
    from ._trees.classifier import BoostedClassifier, History, Training, described

from ._trees.metric import Metric, Stopping
from ._trees.objective import Objective, of_parts

__all__ = ["MoDeLGBMClassifier", "finalize", "metric", "objective"]

#: Parameters that LightGBM does not use with an objective of its user.
_OF_OBJECTIVES = (
    *("is_unbalance", "scale_pos_weight", "pos_bagging_fraction", "neg_bagging_fraction"),
    *("num_class", "sigmoid"),
)


def _main_names() -> dict[str, str]:
    """LightGBM's main name of a parameter by each of its names."""
    aliases = lightgbm.basic._ConfigAliases._get_all_param_aliases()
    return {other: main for main, others in aliases.items() for other in (main, *others)}


def _read_rows(data: lightgbm.Dataset) -> tuple[NDArray[Any], NDArray[Any] | None]:
    main = _main_names()
    params = {main.get(name, name): value for name, value in (data.params or {}).items()}  # also of the training
    _refuse_machines(params)
    for name in params.keys() & set(_OF_OBJECTIVES):
        raise ValueError(f"parameter {name!r} has no effect with the objective of libmode: leave it out")
    weight = data.get_weight()
    return np.asarray(data.get_label()), None if weight is None else np.asarray(weight)


def _refuse_machines(parameters: dict[str, Any]) -> None:
    if (count := int(parameters.get("num_machines", 1))) > 1:
        raise of_parts(count, "machines")


class objective(Objective):
    """Cross entropy and MoDe (arXiv:2010.09745) for ``"objective"`` among the parameters of ``lightgbm.train``.

    Give the Dataset ``init_score``, log(p/(1 - p)) with p the share of signal, for each of its rows, and the model to
    :func:`finalize`. ``weight``, of either sign, replaces the weights of the Dataset. All else is as for
    :func:`libmode.xgboost.objective`.

    Examples
    --------
    >>> import lightgbm
    >>> import numpy as np
    >>> from libmode.lightgbm import finalize, objective
    >>> rng = np.random.default_rng(1)
    >>> label, mass = rng.integers(0, 2, 8_000), rng.uniform(50, 300, 8_000)  # 0 is background
    >>> x = np.column_stack([mass, rng.normal(label)])
    >>> start = np.log(label.mean() / (1 - label.mean()))
    >>> data = lightgbm.Dataset(x, label, init_score=np.full(8_000, start))
    >>> mode = objective(mass, order=1)
    >>> parameters = {"objective": mode, "max_depth": 3, "num_threads": 1, "verbose": -1}
    >>> judge = mode.judge(x, label, mass)  # better: other events
    >>> booster = finalize(lightgbm.train(parameters, data, 80, callbacks=[judge]), start)
    >>> probability = booster.predict(x)
    >>> bool(probability.min() > 0), bool(probability.max() < 1), mode.settled, mode.check_.flat
    (True, True, 60, True)
    """

    _read_rows = staticmethod(_read_rows)

    @staticmethod
    def _callback(features: Any, judge: Callable[[Any, int | None], None]) -> Any:
        def keep(env: Any) -> None:
            env.model._libmode_judge = features, judge  # for finalize

        return keep


class metric(Metric):
    """Judges evaluation sets, as ``feval=`` of ``lightgbm.train`` next to :func:`objective`.

    ``masses`` gives the masses of each Dataset of ``valid_sets``. All else is as for :func:`libmode.xgboost.metric`,
    except that ``lightgbm.early_stopping`` stops on any entry of ``of``, or on the first with ``first_metric_only``.

    Examples
    --------
    >>> import lightgbm
    >>> import numpy as np
    >>> from libmode.lightgbm import metric
    >>> validation = lightgbm.Dataset(np.zeros((4, 1)), [0, 0, 1, 1]).construct()
    >>> judge = metric({validation: [60, 70, 80, 90]}, of="logloss", order=1)
    >>> [(name, round(value, 3)) for name, value, _ in judge(np.zeros(4), validation)]
    [('logloss', 0.693)]
    """

    _read_rows = staticmethod(_read_rows)

    def __call__(self, margin: Any, data: Any) -> list[Any]:
        """Triples (name, value, False) for margins of shape (n,)."""
        return _smaller_is_better(super().__call__(margin, data))


def _smaller_is_better(values: Iterable[tuple[str, float]]) -> list[tuple[str, float, bool]]:
    return [(name, value, False) for name, value in values]


def finalize(booster: lightgbm.Booster, init_score: float, *, num_iteration: int | None = None) -> Any:
    """The model with the link of ``objective=binary``, which predicts probabilities.

    Parameters
    ----------
    booster : lightgbm.Booster
        Trained with :func:`objective`; it does not change.
    init_score : float
        The ``init_score`` of all rows of the Dataset, or 0 if it has none. It is added to the leaves of the first tree:
        LightGBM leaves it out of the model.
    num_iteration : int, optional
        The number of rounds to keep; by default the best, or all.

    Returns
    -------
    lightgbm.Booster
        A new model; ``predict`` gives probabilities.

    Raises
    ------
    ValueError
        For a model without trees, with linear trees, or with an objective that is not from :func:`objective`, such as
        one that is final already; if ``init_score`` is not finite.
    TypeError
        If the arguments are not a Booster and a number.

    Warns
    -----
    TrainingWarning
        As ``judge`` of the objective says, whose callback the training had.

    Examples
    --------
    >>> import lightgbm
    >>> import numpy as np
    >>> from libmode.lightgbm import finalize, objective
    >>> rng = np.random.default_rng(1)
    >>> label, mass = rng.integers(0, 2, 8_000), rng.uniform(50, 300, 8_000)  # 0 is background
    >>> x = np.column_stack([mass, rng.normal(label)])
    >>> data = lightgbm.Dataset(x, label, init_score=np.full(8_000, 0.1))
    >>> booster = lightgbm.train({"objective": objective(mass, order=1), "verbose": -1}, data)
    >>> # It predicts margins, less 0.1.
    >>> probability = 1 / (1 + np.exp(-0.1 - booster.predict(x)))
    >>> np.allclose(finalize(booster, 0.1).predict(x), probability)
    True
    """
    if not isinstance(booster, lightgbm.Booster):
        raise TypeError(f"booster is {type(booster).__name__}: expected lightgbm.Booster")
    if booster.num_trees() == 0:
        raise ValueError("the booster has no trees: the training made no split")
    score = number("init_score", init_score)
    rounds = None if num_iteration is None else whole("num_iteration", num_iteration)
    text = booster.model_to_string(num_iteration=rounds)
    head, names, rest = text.partition("\nfeature_names=")
    if "\nobjective=" in head:
        raise ValueError(
            "the model has its own link: libmode.lightgbm.objective did not train it, or it is final already"
        )
    if "\nis_linear=1\n" in rest:
        raise ValueError(
            "booster has linear trees: init_score is added to leaves that are numbers, and these are functions of the "
            "features. Train without linear_tree"
        )
    rest = rest.replace("\n[objective: custom]\n", "\n[objective: binary]\n")
    model = lightgbm.Booster(model_str=f"{head}\nobjective=binary sigmoid:1{names}{rest}")
    for leaf in range(model.dump_model(num_iteration=1)["tree_info"][0]["num_leaves"]):
        model.set_leaf_output(0, leaf, model.get_leaf_output(0, leaf) + score)
    features, judge = getattr(booster, "_libmode_judge", (None, None))
    if judge is not None:
        best = booster.best_iteration
        judge(model.predict(features, raw_score=True), best - 1 if best > 0 else None)
    return model


class _Stop:
    """Stops a training."""

    def __init__(self, stopping: Stopping) -> None:
        self._stopping = stopping
        self.order = 30  # as LightGBM's own callback: after the records

    def __call__(self, env: Any) -> None:
        if self._stopping.over(env.iteration):
            raise lightgbm.callback.EarlyStopException(self._stopping.best, env.evaluation_result_list)


class MoDeLGBMClassifier(BoostedClassifier):
    __doc__ = described("LightGBM", "MoDeLGBMClassifier", "txt")

    _stops = lightgbm.callback._EarlyStoppingCallback
    _forest = ("boosting", "dart")
    _own = (*_OF_OBJECTIVES, "objective", "metric", "categorical_feature", "input_model")

    def _main_name(self, name: str) -> str | None:
        """LightGBM, which must be silent, would not say of an unknown one."""
        main = _main_names()
        return {main.get(ours, ours): ours for ours in self._get_param_names()}.get(main.get(name), main.get(name))

    def _train(self, training: Training, callbacks: list[Any], verbose: bool | int) -> History:
        _refuse_machines(training.parameters)
        names = getattr(self, "feature_names_in_", None)
        data, *sets = (
            lightgbm.Dataset(
                features,
                label,
                feature_name="auto" if names is None else names.tolist(),
                categorical_feature=list(self._categories),
                init_score=np.full(len(features), training.start),
                free_raw_data=False,
            )
            for features, label in training.arrays
        )
        for one in sets:
            one.set_reference(data)
        metric, stopping, history = training.metric(sets), training.stopping, History()
        callbacks = callbacks + [lightgbm.record_evaluation(history)] * bool(sets)
        if verbose and sets:
            callbacks.append(lightgbm.log_evaluation(int(verbose)))
        if stopping:
            callbacks.append(_Stop(stopping))
        depth = training.parameters["max_depth"]
        booster = lightgbm.train(
            {
                "objective": training.objective,
                "metric": "none",
                "num_leaves": 2 ** min(depth, 16) - 1 if depth > 0 else 31,
                "bagging_freq": 1 if self.subsample < 1 else 0,
                "verbosity": -1,
                **training.parameters,
            },
            data,
            training.rounds,
            valid_sets=sets,
            valid_names=[f"validation_{k}" for k in range(len(sets))],
            feval=lambda margin, data: _smaller_is_better(metric(margin, data)),
            callbacks=callbacks,
        )
        rounds = None if not stopping or stopping.best is None else stopping.best + 1
        self.booster_ = finalize(booster, training.start, num_iteration=rounds)
        return history

    def _margins(self, features: NDArray[Any]) -> NDArray[Any]:
        return np.asarray(self.booster_.predict(features, raw_score=True))

    def _gains(self) -> NDArray[Any]:
        return np.asarray(self.booster_.feature_importance("gain"))
