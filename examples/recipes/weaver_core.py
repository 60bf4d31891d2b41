"""MoDe in weaver-core (hqucms/weaver-core), without a change of weaver. python weaver_core.py

weaver calls ``get_loss(...)(logits, label)`` and hands it nothing else, and reads ``observers`` in the test alone. So
the mass is an input of its own, which the network keeps for the loss and does not look at. This file is what ``weaver
--network-config`` reads; run by itself it writes toy events and trains by weaver's command, without MoDe and with it.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

import torch
from libmode.torch import MoDeConstraint

CONFIG = """
treename: tree
preprocess: {method: manual}
inputs:
  features: {length: null, vars: [[x0, null], [x1, null]]}
  mass: {length: null, vars: [[mass, null]]} # null: as it is, neither scaled nor padded
labels: {type: simple, value: [is_background, is_signal]}
observers: [mass] # in the file of scores too
"""


class Network(torch.nn.Module):
    mass = None  # of the batch on its way

    def __init__(self):
        super().__init__()
        self.layers = torch.nn.Sequential(torch.nn.Linear(2, 32), torch.nn.SiLU(), torch.nn.Linear(32, 2))

    def forward(self, features, mass):
        Network.mass = mass
        return self.layers(features)


def get_model(data_config, **options):
    inputs = list(data_config.input_names)
    shapes = {"features": (1, 2), "mass": (1,)}
    return Network(), {"input_names": inputs, "input_shapes": shapes, "output_names": ["logits"]}


def get_loss(data_config, mode=True, **options):
    """``--network-option mode False`` is the cross entropy alone."""
    constraint = MoDeConstraint(order=0, from_logits=True) if mode else lambda logit, label, mass: logit

    def loss(logits, label):
        logit = constraint(logits[:, 1] - logits[:, 0], label, Network.mass)
        return torch.nn.functional.binary_cross_entropy_with_logits(logit, label.float())

    return loss


if __name__ == "__main__":
    import uproot
    from toys import events, reached

    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "data.yaml").write_text(CONFIG)
        for seed, name in enumerate(["train", "valid", "test"]):
            x, y, m = events(20_000, seed)
            with uproot.recreate(Path(folder, f"{name}.root")) as file:
                file["tree"] = {"x0": x[:, 0], "x1": x[:, 1], "mass": m, "is_signal": y, "is_background": 1 - y}
        for mode in ("False", "True"):
            # One long epoch: weaver tests the epoch with the best accuracy, which is not the flattest.
            command = f"""--data-train train.root --data-val valid.root --data-test test.root --data-config data.yaml
                --network-config {Path(__file__).resolve()} --network-option mode {mode} --model-prefix {mode}/network
                --num-epochs 1 --steps-per-epoch 900 --steps-per-epoch-val 5 --batch-size 1000 --in-memory
                --fetch-step 1 --optimizer Adam --start-lr 0.005 --lr-scheduler none --gpus= --num-workers 0
                --predict-output scores.root"""
            weaver = [Path(sys.executable).with_name("weaver"), *command.split()]
            done = subprocess.run(weaver, cwd=folder, capture_output=True, text=True)
            if done.returncode:
                sys.exit(done.stderr)
            with uproot.open(Path(folder, mode, "predict_output", "scores.root")) as file:
                scores = file[file.keys()[0]].arrays(library="np")
            print(f"MoDe {mode}:", reached(scores["score_is_signal"], scores["is_signal"], scores["mass"]))
