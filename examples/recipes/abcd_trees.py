"""ABCD with boosted trees: scores of the training close better than scores of other events. python abcd_trees.py

For searches that predict the background of region A, above the cuts on two scores, by B C / D. The second classifier
is flat in the first score, for background. Trees know the events of their training by heart, so that the closure of
those says little. cross_val_predict scores each event with trees that have not seen it.
"""

from libmode import metrics
from libmode.xgboost import MoDeXGBClassifier
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from toys import closure, common_mode
from xgboost import XGBClassifier

TREES = dict(n_estimators=150, n_jobs=1)

if __name__ == "__main__":
    features, label = common_mode(20_000, 1)
    folds = StratifiedKFold(5, shuffle=True, random_state=1)

    def of_others(classifier, columns, **params):
        """Scores of trees that have not seen the event."""
        given = {"cv": folds, "method": "predict_proba", "params": params}
        return cross_val_predict(classifier, features[:, columns], label, **given)[:, 1]

    plain = XGBClassifier(**TREES, max_depth=3, learning_rate=0.1)
    flat = MoDeXGBClassifier(order=0, validation_fraction=None, **TREES)
    first = of_others(plain, [0, 1])
    unaware = of_others(plain, [2, 3])
    aware = of_others(flat, [2, 3], mass=first)
    by_heart = flat.fit(features[:, 2:], label, mass=first).predict_proba(features[:, 2:])[:, 1]
    for name, second in [("plain", unaware), ("flat, of the training", by_heart), ("flat, of other folds", aware)]:
        ratios = [closure(first, second, label, fraction) for fraction in (0.25, 0.1)]
        print(
            f"{name}: AUC {metrics.auc(second, label):.3f}, predicted over true",
            *(f"{r:.2f}±{e:.2f}" for r, e in ratios),
        )
