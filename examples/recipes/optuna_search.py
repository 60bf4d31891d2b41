"""The trade-off between rejection and dependence, searched by Optuna. python optuna_search.py

For those who tune: there is no single best, so the study has two objectives, the background rejection at 50 % signal
efficiency (R50, to be large) and the residual of the background efficiency from a constant, over its value from
statistics alone (to be small: 1 is none), both from events that the training has not seen. The order decides how much
of the mass the trees may use. ``study.best_trials`` is the front: what no other trial beats in both.
"""

import optuna
from libmode import metrics
from libmode.xgboost import MoDeXGBClassifier
from toys import events

TRAIN, VALID = events(10_000, 1), events(20_000, 2)


def objective(trial):
    """R50 and residual of one set of parameters."""
    features, label, mass = TRAIN
    classifier = MoDeXGBClassifier(
        order=trial.suggest_int("order", 0, 4),
        max_depth=trial.suggest_int("max_depth", 2, 5),
        learning_rate=trial.suggest_float("learning_rate", 0.1, 0.2),
        n_estimators=200,
        validation_fraction=None,  # VALID judges
        random_state=1,
        n_jobs=1,
    ).fit(features, label, mass=mass)
    features, label, mass = VALID
    score = classifier.predict_proba(features)[:, 1]
    cut = metrics.check(score, label, mass, order=0, signal_efficiency=0.5).cuts[0]
    return metrics.rejection(score, label, signal_efficiency=0.5), cut.residual / cut.expected


def search(trials):
    """The study after so many trials. Three are chosen by hand, and the sampler draws the others."""
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    study = optuna.create_study(directions=["maximize", "minimize"], sampler=optuna.samplers.NSGAIISampler(seed=1))
    for order in (0, 1, 4):
        study.enqueue_trial({"order": order, "max_depth": 4})
    study.optimize(objective, n_trials=trials)
    return study


if __name__ == "__main__":
    study = search(trials=12)
    print(f"{len(study.trials)} trials, on the front {len(study.best_trials)}:")
    for trial in sorted(study.best_trials, key=lambda trial: trial.values):
        chosen = " ".join(f"{name} {value:.3g}" for name, value in trial.params.items())
        print("R50 {:.1f}, residual {:.2f} times chance: ".format(*trial.values) + chosen)
