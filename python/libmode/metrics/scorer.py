"""A scorer for scikit-learn's searches."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .._typing import Unpack
from ..option_types import CheckOptions
from ._judge import Judge
from ._sample import read_labels
from ._settings import Settings

if TYPE_CHECKING:
    from sklearn.utils.metadata_routing import MetadataRequest


class Scorer:
    """What :func:`scorer` returns: ``scorer(estimator, X, y, mass=mass)``, for GridSearchCV and the like."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    def __call__(
        self, estimator: Any, X: Any, y: Any, *, mass: Any = None, sample_weight: Any = None, category: Any = None
    ) -> float:
        """The sensitivity, or minus infinity where the check says no."""
        if mass is None:
            raise TypeError(
                "mass is missing: call sklearn.set_config(enable_metadata_routing=True), and give mass=mass to fit of "
                "the search"
            )
        judge = Judge(self._settings, y, mass, sample_weight, category)
        classes = np.asarray(estimator.classes_)
        signal = read_labels(classes, self._settings.background_label, "classes_", classes)
        check = judge(np.asarray(estimator.predict_proba(X))[:, signal].sum(axis=1))
        return -np.inf if check.flat is False or np.isnan(check.sensitivity) else check.sensitivity

    def get_metadata_routing(self) -> MetadataRequest:
        """The request for mass, weights and categories of the events that are judged."""
        from sklearn.utils.metadata_routing import MetadataRequest

        request = MetadataRequest(owner=self)
        for name in ("mass", "sample_weight", "category"):
            request.score.add_request(param=name, alias=True)
        return request


def scorer(**settings: Unpack[CheckOptions]) -> Scorer:
    """A scorer for scikit-learn: the sensitivity, or minus infinity where :func:`check` says that it is not flat.

    The AUC of a search chooses the classifier that sculpts most. scikit-learn hands the masses of the left-out events
    on by metadata routing, which also needs ``set_fit_request(mass=True)`` of the estimator, if its ``fit`` takes
    masses.

    Parameters
    ----------
    **settings
        Arguments of :func:`check` but for the events: ``order``, and the working point.

    Returns
    -------
    Scorer
        ``scorer(estimator, X, y, mass=..., sample_weight=..., category=...)``, a float.

    Examples
    --------
    >>> import numpy as np
    >>> import sklearn
    >>> from libmode.metrics import scorer
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.model_selection import GridSearchCV
    >>> rng = np.random.default_rng(1)
    >>> label = rng.integers(0, 2, 20_000)
    >>> mass = np.where(label == 1, rng.normal(120, 8, 20_000), rng.uniform(50, 250, 20_000))
    >>> x = np.column_stack([rng.normal(label), np.exp(-(((mass - 120) / 20) ** 2))])  # the second gives the mass away
    >>> with sklearn.config_context(enable_metadata_routing=True):
    ...     search = GridSearchCV(LogisticRegression(), {"C": [0.1, 1]}, scoring=scorer(order=0), cv=2)
    ...     search = search.fit(x[:, :1], label, mass=mass)
    >>> bool(search.best_score_ > 1), scorer(order=0)(LogisticRegression().fit(x, label), x, label, mass=mass)
    (True, -inf)
    """
    return Scorer(Settings.checked(**settings))
