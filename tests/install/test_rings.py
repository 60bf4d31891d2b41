"""The tests that build.sh runs with few packages import no others."""

import sys

import pytest
from places import ROOT
from programs import run

OTHERS = (
    "awkward click fastjet h5py hep_ml jax keras lightgbm lightning modeloss monotonicnetworks onnxmltools onnx onnxruntime "
    "onnxscript optuna pyarrow pythia8 pytorch_lightning ROOT sklearn tensorboard tensorflow tqdm uproot salt weaver xgboost"
)
RINGS = {
    "core": (["tests/core"], f"{OTHERS} torch matplotlib mplhep scipy"),
    "torch": (["tests/core", "tests/pytorch"], OTHERS),
}


@pytest.mark.parametrize("ring", RINGS)
def test_a_ring_imports_nothing_that_it_does_not_install(ring):
    folders, others = RINGS[ring]
    assert f'"{" ".join(folders)}"' in (ROOT / "build.sh").read_text()
    code = "import sys; sys.modules.update(dict.fromkeys(sys.argv[1].split()))\nimport pytest; sys.exit(pytest.main(sys.argv[2:]))"
    run(sys.executable, "-c", code, others, "-q", "--collect-only", *folders, cwd=ROOT)
