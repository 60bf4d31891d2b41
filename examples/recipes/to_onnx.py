"""A trained model in ONNX, without libmode. python to_onnx.py

For those who run the classifier elsewhere (ROOT's SOFIE, Athena, CMSSW, a trigger): MoDe acts in training alone, so
the exported graph is that of the network, here by torch.onnx, or of the trees, here of XGBoost by onnxmltools. A
program of its own scores the events with onnxruntime, and says whether it met libmode.
"""

import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np
import onnx
import torch
from libmode import metrics
from libmode.torch import MoDeConstraint
from libmode.xgboost import MoDeXGBClassifier
from onnxmltools import convert_xgboost
from onnxmltools.convert.common.data_types import FloatTensorType
from toys import events, reached
from xgboost import XGBClassifier

# Runs without libmode: score MODEL.onnx for the features in a file, into another.
RUN = """
import sys
import numpy as np
import onnxruntime

session = onnxruntime.InferenceSession(sys.argv[1])
found = session.run(None, {session.get_inputs()[0].name: np.load("features.npy")})[-1]
np.save("scores.npy", found.reshape(len(found), -1)[:, -1])
assert not {"libmode", "torch", "xgboost"} & set(sys.modules)
"""


def network(features, label, mass):
    """Trains with the constraint, which is outside of the network."""
    torch.manual_seed(1)
    layers = [torch.nn.Linear(2, 32), torch.nn.SiLU(), torch.nn.Linear(32, 1), torch.nn.Sigmoid()]
    model, constraint = torch.nn.Sequential(*layers), MoDeConstraint(order=0)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
    x, y, m = torch.tensor(features), torch.tensor(label), torch.tensor(mass)
    for _ in range(100):
        optimizer.zero_grad()
        torch.nn.functional.binary_cross_entropy(constraint(model(x)[:, 0], y, m), y.float()).backward()
        optimizer.step()
    return model.eval()


if __name__ == "__main__":
    features, label, mass = events(10_000, 1)
    trees = MoDeXGBClassifier(order=0, n_estimators=100, validation_fraction=None, n_jobs=1).fit(
        features, label, mass=mass
    )
    model = network(features, label, mass)
    features, label, mass = events(10_000, 2)
    with tempfile.TemporaryDirectory() as folder, torch.no_grad():
        np.save(Path(folder, "features.npy"), features)
        here = {"network": model(torch.tensor(features))[:, 0].numpy(), "trees": trees.predict_proba(features)[:, 1]}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # PyTorch and copyreg, of each other
            batch = torch.export.Dim("batch")
            program = torch.onnx.export(
                model, (torch.tensor(features[:2]),), dynamic_shapes=({0: batch},), verbose=False
            )
        program.save(Path(folder, "network.onnx"))
        plain = XGBClassifier()
        plain.load_model(trees.booster_.save_raw())  # the booster is an ordinary one
        onnx.save(convert_xgboost(plain, initial_types=[("x", FloatTensorType([None, 2]))]), Path(folder, "trees.onnx"))
        for name, score in here.items():
            subprocess.run([sys.executable, "-c", RUN, f"{name}.onnx"], cwd=folder, check=True)
            there = np.load(Path(folder, "scores.npy"))
            print(f"{name}: {reached(there, label, mass)}, largest difference {np.abs(there - score).max():.1e}")
    print(metrics.check(there, label, mass, order=0))
