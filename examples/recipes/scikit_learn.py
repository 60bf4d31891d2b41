"""MoDe in a scikit-learn pipeline, with cross-validation and a search. python scikit_learn.py

For those who train boosted trees: ``set_fit_request(mass=True)`` says that the last step asks for masses,
``params={"mass": mass}`` hands them over, and scikit-learn splits them with the rows. ``MoDeLGBMClassifier`` of
libmode.lightgbm goes in its place.
"""

import sklearn
from libmode import metrics
from libmode.xgboost import MoDeXGBClassifier
from sklearn.metrics import make_scorer
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from toys import events, reached
from xgboost import XGBClassifier

TREES = dict(n_estimators=150, max_depth=4, learning_rate=0.15, random_state=1, n_jobs=1)


def rank(label, score, mass):
    """Flat trees come first, then those not known, then those not flat; among equals the sensitivity decides."""
    return metrics.check(score, label, mass, order=0).rank


if __name__ == "__main__":
    sklearn.set_config(enable_metadata_routing=True)
    features, label, mass = events(12_000, 1)
    folds = StratifiedKFold(3, shuffle=True, random_state=1)

    plain = make_pipeline(StandardScaler(), XGBClassifier(**TREES))
    trees = MoDeXGBClassifier(order=0, validation_fraction=None, **TREES)  # the folds judge
    flat = make_pipeline(StandardScaler(), trees.set_fit_request(mass=True))
    for name, pipeline, params in [("without", plain, {}), ("with", flat, {"mass": mass})]:
        # Each event is scored by trees that have not seen it.
        probability = cross_val_predict(pipeline, features, label, cv=folds, method="predict_proba", params=params)
        print(f"{name} MoDe: {reached(probability[:, 1], label, mass)}")

    scoring = make_scorer(rank, response_method="predict_proba").set_score_request(mass=True)
    search = GridSearchCV(flat, {"modexgbclassifier__max_depth": [2, 4]}, cv=folds, scoring=scoring)
    search.fit(features, label, mass=mass)
    shallow, deep = search.cv_results_["mean_test_score"]
    print(f"rank with depth 2: {shallow:.2f}, with depth 4: {deep:.2f}")
    print(metrics.check(probability[:, 1], label, mass, order=0))
