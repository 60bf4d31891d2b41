"""What a training leaves behind is an ordinary model: it predicts the same without libmode, and in ONNX."""

import sys

import numpy as np
import onnxmltools
import onnxruntime
import pytest
from boosted import IN_FEW_ROUNDS, LGB, SMALL, XGB, data, train
from libmode.xgboost import objective
from onnxmltools.convert.common.data_types import FloatTensorType
from programs import run

# More background than signal: the prior is not 0.5, so that a model that lost it would be wrong.
KEPT = np.flatnonzero((SMALL.label == 0) | (np.arange(len(SMALL)) % 4 == 0))
FEATURES, LABEL, MASS = SMALL.features[KEPT], SMALL.label[KEPT], SMALL.mass[KEPT]
PRIOR = float(LABEL.mean())

pytestmark = IN_FEW_ROUNDS
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
    """The objective, with XGBoost alone."""
    booster = train(data(FEATURES, LABEL), 20, objective(MASS, order=1), base_score=PRIOR)
    return booster, booster.predict(data(SMALL.features))


def classifier(library):
    fitted = library.Classifier(order=1, n_estimators=20, n_jobs=1).fit(FEATURES, LABEL, mass=MASS)
    assert fitted.predict_proba(FEATURES)[:, 1].mean() == pytest.approx(PRIOR, abs=0.08)  # a prior counted once
    return fitted.booster_, fitted.predict_proba(SMALL.features)[:, 1]


def stopped(library):
    """One that predicts with its best round, and not its last."""
    fitted = library.Classifier(order=1, n_estimators=300, n_jobs=1, early_stopping_rounds=10)
    fitted.fit(FEATURES, LABEL, mass=MASS, eval_set=[(SMALL.features, SMALL.label)], eval_mass=[SMALL.mass])
    assert fitted.best_iteration_ < 299
    return fitted.booster_, fitted.predict_proba(SMALL.features)[:, 1]


@pytest.mark.parametrize(
    "library, trained", [(XGB, native), *((library, one) for library in (XGB, LGB) for one in (classifier, stopped))]
)
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
