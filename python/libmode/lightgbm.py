"""MoDe in LightGBM: a classifier of scikit-learn, whose model predicts probabilities without libmode."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._messages import needed

with needed("lightgbm", "libmode.lightgbm", "lightgbm"):
    import lightgbm

with needed("sklearn", "libmode.lightgbm", "lightgbm"):
    from ._trees.classifier import BoostedClassifier, History, Training, described, of_parts

__all__ = ["MoDeLGBMClassifier"]


_ALIASES: dict[str, list[str]] = lightgbm.basic._ConfigAliases._get_all_param_aliases()
#: LightGBM's main name of a parameter by each of its names, and that of the classifier by its main name.
_MAIN = {other: main for main, others in _ALIASES.items() for other in (main, *others)}
_OURS = {_MAIN.get(ours, ours): ours for ours in BoostedClassifier._get_param_names()}


def _with_link(booster: lightgbm.Booster, start: float, rounds: int | None) -> Any:
    """The model of so many rounds, or of all, that predicts probabilities: LightGBM forgets the link of an objective.

    ``start`` is what margins began with. It is added to the leaves of the first tree, since LightGBM leaves it out.
    """
    if booster.num_trees() == 0:
        raise ValueError("the booster has no trees: the training made no split")
    head, names, rest = booster.model_to_string(num_iteration=rounds).partition("\nfeature_names=")
    if "\nis_linear=1\n" in rest:
        raise ValueError(
            "booster has linear trees, whose leaves are functions of the features: the share of signal is added to "
            "leaves that are numbers. Train without linear_tree"
        )
    rest = rest.replace("\n[objective: custom]\n", "\n[objective: binary]\n")
    model = lightgbm.Booster(model_str=f"{head}\nobjective=binary sigmoid:1{names}{rest}")
    for leaf in range(model.dump_model(num_iteration=1)["tree_info"][0]["num_leaves"]):
        model.set_leaf_output(0, leaf, model.get_leaf_output(0, leaf) + start)
    return model


class MoDeLGBMClassifier(BoostedClassifier):
    __doc__ = described("LightGBM", "MoDeLGBMClassifier", "txt")

    _stops = lightgbm.callback._EarlyStoppingCallback
    _forest = ("boosting", "dart")
    _names = {name: _OURS.get(main, main) for name, main in _MAIN.items()}
    _own = (
        *("objective", "metric", "categorical_feature", "input_model", "num_class", "sigmoid"),
        *("is_unbalance", "scale_pos_weight", "pos_bagging_fraction", "neg_bagging_fraction"),
    )

    @staticmethod
    def _unknown(parameters: Mapping[str, Any]) -> list[str]:
        """LightGBM, which must be silent, would not say so."""
        return [name for name in parameters if name not in _MAIN]

    def _train(self, training: Training, callbacks: list[Any], verbose: bool | int) -> History:
        if (count := int(training.parameters.get("num_machines", 1))) > 1:
            raise of_parts(count, "machines")
        names = getattr(self, "feature_names_in_", None)
        data, *sets = (
            lightgbm.Dataset(
                features,
                label,
                feature_name="auto" if names is None else names.tolist(),
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

            def stop(env: Any) -> None:
                if stopping.over(env.iteration):
                    raise lightgbm.callback.EarlyStopException(stopping.best, env.evaluation_result_list)

            stop.order = 30  # type: ignore[attr-defined] # as LightGBM's own callback: after the records
            callbacks.append(stop)
        depth = training.parameters["max_depth"]
        booster = lightgbm.train(
            {
                "objective": lambda margin, data: training.objective(margin),  # LightGBM copies other objects
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
            feval=lambda margin, data: [(name, value, False) for name, value in metric(margin, data)],
            callbacks=callbacks,
        )
        rounds = None if not stopping or stopping.best is None else stopping.best + 1
        self.booster_ = _with_link(booster, training.start, rounds)
        return history

    def _margins(self, features: NDArray[Any]) -> NDArray[Any]:
        return np.asarray(self.booster_.predict(features, raw_score=True))

    def _gains(self) -> NDArray[Any]:
        return np.asarray(self.booster_.feature_importance("gain"))
