"""libmode.metrics.scorer in scikit-learn's search: it chooses the classifier that does not sculpt."""

import numpy as np
import pytest
import sklearn
from libmode import metrics
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.model_selection import GridSearchCV


class Reads(ClassifierMixin, BaseEstimator):
    """A classifier of known scores: of the first feature, and of so much of the second, which follows the mass."""

    def __init__(self, leak=0.0):
        self.leak = leak

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict_proba(self, X):
        p = 1 / (1 + np.exp(-(X[:, 0] + self.leak * X[:, 1])))
        return np.column_stack([p, 1 - p] if self.classes_[0] == "Higgs" else [1 - p, p])


def events():
    rng = np.random.default_rng(1)
    label = rng.integers(0, 2, 40_000)
    mass = np.where(label == 1, rng.normal(120, 8, 40_000), rng.uniform(50, 250, 40_000))
    features = np.column_stack([rng.normal(1.5 * label), np.exp(-0.5 * ((mass - 120) / 10) ** 2)])
    return features, label, mass


@pytest.mark.filterwarnings("ignore:One or more of the test scores are non-finite", "ignore:invalid value encountered")
@pytest.mark.parametrize("names", [None, np.array(["QCD", "Higgs"])])
def test_a_search_chooses_the_flat_one(names):
    features, label, mass = events()
    y, background = (label, 0) if names is None else (names[label], "QCD")
    by_auc = GridSearchCV(Reads(), {"leak": [0.0, 3.0]}, scoring="roc_auc", cv=2).fit(features, label)
    assert by_auc.best_params_ == {"leak": 3.0}, "the sculpting classifier has the larger AUC"
    score = metrics.scorer(order=0, signal_efficiency=0.5, background_label=background)
    with sklearn.config_context(enable_metadata_routing=True):
        search = GridSearchCV(Reads(), {"leak": [0.0, 3.0]}, scoring=score, cv=2).fit(features, y, mass=mass)
    assert search.best_params_ == {"leak": 0.0}
    assert search.cv_results_["mean_test_score"][1] == -np.inf
    found = metrics.check(features[:, 0], label, mass, order=0, signal_efficiency=0.5)
    assert score(Reads().fit(features, y), features, y, mass=mass) == pytest.approx(found.sensitivity, rel=1e-9)


def test_a_search_without_routing_is_told_what_to_do():
    features, label, mass = events()
    with pytest.raises(TypeError, match="mass is missing: call sklearn.set_config"):
        metrics.scorer(order=0)(Reads().fit(features, label), features, label)
    with pytest.raises(TypeError, match="order is missing"):
        metrics.scorer()
