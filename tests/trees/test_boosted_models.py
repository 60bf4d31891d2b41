"""What a training leaves behind is an ordinary model: it predicts the same without libmode, and in ONNX."""

import subprocess
import sys
from functools import partial

import libmode.lightgbm
import lightgbm
import numpy as np
import onnxmltools
import onnxruntime
import pytest
import xgboost
from boosted import CLASSIFIERS, LGB, SMALL, XGB
from onnxmltools.convert.common.data_types import FloatTensorType

LIBRARIES = list(CLASSIFIERS)

# More background than signal: the prior is not 0.5, so that a model that lost it would be wrong.
KEPT = np.flatnonzero((SMALL.label == 0) | (np.arange(len(SMALL)) % 4 == 0))
FEATURES, LABEL, MASS = SMALL.features[KEPT], SMALL.label[KEPT], SMALL.mass[KEPT]
PRIOR = float(LABEL.mean())
START = float(np.log(PRIOR / (1 - PRIOR)))

BLOCKED = """
import sys

class Blocker:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] == "libmode":
            raise ImportError("libmode is not to be had here")

sys.meta_path.insert(0, Blocker())
try:
    import libmode
except ImportError:
    pass
else:
    sys.exit("libmode can be imported")
import numpy as np

features, *models = sys.argv[1:]
features = np.load(features)
for model in models:
    if model.endswith(".txt"):
        import lightgbm

        probability = lightgbm.Booster(model_file=model).predict(features)
    else:
        import xgboost

        probability = xgboost.Booster(model_file=model).predict(xgboost.DMatrix(features))
    np.save(model + ".npy", probability)
"""


def of_xgboost():
    data = xgboost.DMatrix(FEATURES, LABEL)
    booster = xgboost.train(XGB | {"base_score": PRIOR}, data, 20, obj=libmode.xgboost.objective(MASS))
    return booster, booster.predict(xgboost.DMatrix(SMALL.features))


def of_lightgbm():
    data = lightgbm.Dataset(FEATURES, LABEL, init_score=np.full(len(LABEL), START))
    trained = lightgbm.train(LGB | {"objective": libmode.lightgbm.objective(MASS)}, data, 20)
    booster = libmode.lightgbm.finalize(trained, START)
    margin = trained.predict(SMALL.features, raw_score=True) + START  # LightGBM forgets what the rows began with
    np.testing.assert_allclose(booster.predict(SMALL.features, raw_score=True), margin, rtol=1e-12, atol=1e-12)
    return booster, 1 / (1 + np.exp(-margin))


def of_classifier(library):
    classifier = CLASSIFIERS[library](n_estimators=20, n_jobs=1).fit(FEATURES, LABEL, mass=MASS)
    return classifier.booster_, classifier.predict_proba(SMALL.features)[:, 1]


def of_stopped_classifier(library):
    """One that predicts with its best round, and not its last."""
    classifier = CLASSIFIERS[library](n_estimators=60, n_jobs=1, early_stopping_rounds=10)
    classifier.fit(FEATURES, LABEL, mass=MASS, eval_set=[(SMALL.features, SMALL.label)], eval_mass=[SMALL.mass])
    assert classifier.best_iteration_ < 59
    return classifier.booster_, classifier.predict_proba(SMALL.features)[:, 1]


MODELS = {"of the native API, xgboost": of_xgboost, "of the native API, lightgbm": of_lightgbm}
MODELS |= {f"of the classifier, {library}": partial(of_classifier, library) for library in LIBRARIES}
MODELS |= {f"of a stopped classifier, {library}": partial(of_stopped_classifier, library) for library in LIBRARIES}


@pytest.fixture(scope="module", params=MODELS)
def model(request):
    """A booster, and its probabilities of SMALL."""
    return MODELS[request.param]()


def test_a_saved_model_predicts_the_same_where_libmode_cannot_be_imported(model, tmp_path):
    booster, probability = model
    np.save(tmp_path / "features.npy", SMALL.features)
    names = ["model.json", "model.ubj"] if isinstance(booster, xgboost.Booster) else ["model.txt"]
    for name in names:
        booster.save_model(tmp_path / name)
    subprocess.run([sys.executable, "-c", BLOCKED, "features.npy", *names], cwd=tmp_path, check=True)
    for name in names:
        np.testing.assert_allclose(np.load(tmp_path / f"{name}.npy"), probability, rtol=1e-6, atol=1e-7)


def test_onnx_gives_the_same_probabilities(model):
    booster, probability = model
    convert = onnxmltools.convert_lightgbm if isinstance(booster, lightgbm.Booster) else onnxmltools.convert_xgboost
    more = {"zipmap": False} if isinstance(booster, lightgbm.Booster) else {}
    converted = convert(booster, initial_types=[("features", FloatTensorType([None, 2]))], **more)
    session = onnxruntime.InferenceSession(converted.SerializeToString(), providers=["CPUExecutionProvider"])
    found = session.run(None, {"features": SMALL.features})[1]
    np.testing.assert_allclose(found[:, 1], probability, atol=1e-5)


def test_probabilities_mean_the_share_of_signal():
    """With hardly any push they are calibrated; a prior that is lost or counted twice would show."""
    for library in LIBRARIES:
        classifier = CLASSIFIERS[library](n_estimators=40, n_jobs=1, strength=1e-3).fit(FEATURES, LABEL, mass=MASS)
        assert classifier.predict_proba(FEATURES)[:, 1].mean() == pytest.approx(PRIOR, rel=0.02)
