"""What a training leaves behind is an ordinary model: it predicts the same without libmode, and in ONNX."""

import sys

import libmode.lightgbm
import lightgbm
import numpy as np
import onnxmltools
import onnxruntime
import pytest
from boosted import LGB, SMALL, XGB
from onnxmltools.convert.common.data_types import FloatTensorType
from programs import run

# More background than signal: the prior is not 0.5, so that a model that lost it would be wrong.
KEPT = np.flatnonzero((SMALL.label == 0) | (np.arange(len(SMALL)) % 4 == 0))
FEATURES, LABEL, MASS = SMALL.features[KEPT], SMALL.label[KEPT], SMALL.mass[KEPT]
PRIOR = float(LABEL.mean())
START = float(np.log(PRIOR / (1 - PRIOR)))

# In so few rounds, and with the training as evaluation set.
pytestmark = [
    pytest.mark.filterwarnings(f"ignore:{said}:libmode.TrainingWarning") for said in ("the push has not", "eval_set")
]
WITHOUT_LIBMODE = """
import sys
sys.modules["libmode"] = None  # an import of it is an error
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


def native(library):
    data = library.data(FEATURES, LABEL, start=np.full(len(LABEL), START))
    booster = library.train(data, 20, library.objective(MASS), base_score=PRIOR)
    if isinstance(booster, lightgbm.Booster):  # which forgets what the rows began with
        margin = booster.predict(SMALL.features, raw_score=True) + START
        return libmode.lightgbm.finalize(booster, START), 1 / (1 + np.exp(-margin))
    return booster, library.predict(booster, SMALL.features)


def classifier(library):
    fitted = library.Classifier(order=1, n_estimators=20, n_jobs=1).fit(FEATURES, LABEL, mass=MASS)
    # With hardly any push it is calibrated; a prior that is lost or counted twice would show.
    weak = library.Classifier(order=1, n_estimators=40, n_jobs=1, loss_weight=1e-3).fit(FEATURES, LABEL, mass=MASS)
    assert weak.predict_proba(FEATURES)[:, 1].mean() == pytest.approx(PRIOR, rel=0.05)
    return fitted.booster_, fitted.predict_proba(SMALL.features)[:, 1]


def stopped(library):
    """One that predicts with its best round, and not its last."""
    fitted = library.Classifier(order=1, n_estimators=300, n_jobs=1, early_stopping_rounds=10)
    fitted.fit(FEATURES, LABEL, mass=MASS, eval_set=[(SMALL.features, SMALL.label)], eval_mass=[SMALL.mass])
    assert fitted.best_iteration_ < 299
    return fitted.booster_, fitted.predict_proba(SMALL.features)[:, 1]


@pytest.mark.parametrize("trained", [native, classifier, stopped])
def test_a_model_predicts_the_same_without_libmode_and_in_onnx(library, trained, tmp_path):
    name = {XGB: "xgboost", LGB: "lightgbm"}[library]
    booster, probability = trained(library)
    np.save(tmp_path / "features.npy", SMALL.features)
    for file in library.files:
        booster.save_model(tmp_path / file)
    run(sys.executable, "-c", WITHOUT_LIBMODE, "features.npy", *library.files, cwd=tmp_path)
    for file in library.files:
        np.testing.assert_allclose(np.load(tmp_path / f"{file}.npy"), probability, rtol=1e-6, atol=1e-7)

    more = {"zipmap": False} if name == "lightgbm" else {}
    convert = getattr(onnxmltools, f"convert_{name}")
    converted = convert(booster, initial_types=[("features", FloatTensorType([None, 2]))], **more)
    session = onnxruntime.InferenceSession(converted.SerializeToString(), providers=["CPUExecutionProvider"])
    found = session.run(None, {"features": SMALL.features})[1]
    np.testing.assert_allclose(found[:, 1], probability, atol=1e-5)
