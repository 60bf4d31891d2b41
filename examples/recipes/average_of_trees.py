"""Three flat classifiers, and their mean, which is not flat. python average_of_trees.py

For those who train in folds. The scores of two folds agree where signal is and differ elsewhere, so the mean of the
scores is narrower in some masses than in others. Remedies: score each event with the classifier of its own fold, or
map the mean with a QuantileMap of other events. The same goes for bagging and CalibratedClassifierCV.
"""

import numpy as np
from libmode import metrics
from libmode.posthoc import QuantileMap
from libmode.xgboost import MoDeXGBClassifier
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from toys import events, reached

FLAT = MoDeXGBClassifier(order=0, n_estimators=150, n_jobs=1, validation_fraction=None)  # the folds judge

if __name__ == "__main__":
    features, label, mass = events(30_000, 1)
    for_map, test = events(30_000, 2), events(60_000, 3)
    folds = StratifiedKFold(3, shuffle=True, random_state=1)
    fitted = [FLAT.fit(features[k], label[k], mass=mass[k]).booster_ for k, _ in folds.split(features, label)]

    def scores(of):
        """The scores (3, n) of the three classifiers."""
        return np.array([booster.inplace_predict(of) for booster in fitted])

    each = scores(test[0])
    for k, score in enumerate(each):
        print(f"classifier {k}: {reached(score, *test[1:])}")
    print(f"their mean: {reached(each.mean(axis=0), *test[1:])}")

    background = for_map[1] == 0
    flat = QuantileMap(order=0).fit(scores(for_map[0]).mean(axis=0)[background], for_map[2][background])
    print(f"their mean and a map: {reached(flat.transform(each.mean(axis=0), test[2]), *test[1:])}")

    own = cross_val_predict(FLAT, features, label, cv=folds, method="predict_proba", params={"mass": mass})
    print(f"each event by its own fold: {reached(own[:, 1], label, mass)}")
    print(metrics.check(own[:, 1], label, mass, order=0))
