"""libmode.salt, by salt's own command on the jets of examples/salt: tests/install/salt.sh runs this."""

import shutil
import subprocess
import sys
from pathlib import Path

import h5py
import hdf5plugin  # noqa: F401, reads what salt writes
import numpy as np
import pytest
import torch
import yaml
from libmode import metrics
from libmode.torch import MoDeConstraint
from programs import run

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "salt"
BACKGROUNDS = ["QCDbb", "QCDcc", "QCDb", "QCDothers"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("salt")
    run(sys.executable, EXAMPLE / "jets.py", made, 60_000)
    shutil.copy(EXAMPLE / "salt.yaml", made)
    return made


def salt(folder, command, *arguments):
    program = [Path(sys.executable).with_name("salt"), command, *arguments]
    done = subprocess.run(list(map(str, program)), cwd=folder, capture_output=True, text=True, timeout=1200)
    return done.returncode, done.stdout + done.stderr


def fitted(folder, name, *arguments, config="salt.yaml"):
    """The log, and the folder with config.yaml and checkpoints."""
    given = ["--config", config, "--force", "--seed_everything=1", f"--log_suffix={name}", "--trainer.accelerator=cpu"]
    status, log = salt(folder, "fit", *given, *arguments)
    assert status == 0, log
    return log, folder / "logs" / f"X_{name}"


def task(folder, name, **settings):
    """A YAML with the task changed."""
    config = yaml.safe_load((folder / "salt.yaml").read_text())
    own = config["model"]["model"]["init_args"]["tasks"]["init_args"]["modules"][0]["init_args"]
    own.update(settings)
    (folder / name).write_text(yaml.safe_dump(config))
    return name


def judged(folder, made):
    """The check of the scores that ``salt test`` writes."""
    status, log = salt(
        folder, "test", "--config", made / "config.yaml", "--data.test_file", "test.h5", "--trainer.accelerator=cpu"
    )
    assert status == 0, log
    (path,) = (made / "ckpts").glob("*.h5")
    with h5py.File(path) as file:
        written = file["jets"][:]
    with h5py.File(folder / "test.h5") as file:
        jets = file["jets"][:]
    score = [written[f"X_p{name}"].astype(float) for name in ("X", *BACKGROUNDS)]
    odds = np.log(score[0] + 1e-30) - np.log(sum(score[1:]) + 1e-30)
    return metrics.check(odds, jets["flavour_label"], jets["mass"], order=0, background_label=(1, 2, 3, 4))


@pytest.fixture(scope="module")
def flat(folder):
    return fitted(folder, "flat", "--trainer.max_epochs=25")


def test_the_response_is_flat_with_mode(folder, flat):
    config = task(folder, "none.yaml", method="none")
    log, without = fitted(folder, "none", "--trainer.max_epochs=6", config=config)
    assert "validation of jets_classification not flat at order 0" in log
    sculpted, check = judged(folder, without), judged(folder, flat[1])
    assert sculpted.flat is False and sculpted.cuts[0].residual > 3 * sculpted.cuts[0].expected
    assert check.flat is not False and check.cuts[0].residual < 1.6 * check.cuts[0].expected, str(check)
    assert check.cuts[0].background_efficiency < 0.15


def test_the_state_of_the_layer_is_in_the_checkpoint_and_goes_on(folder, flat):
    names = sorted((flat[1] / "ckpts").glob("*.ckpt"))
    fitted(folder, "more", f"--ckpt_path={names[-2]}", config=str(flat[1] / "config.yaml"))
    (again,) = (flat[1] / "X_more" / "ckpts").glob("*.ckpt")
    for path, batches in ((names[-2], 24 * 30), (names[-1], 25 * 30), (again, 25 * 30)):
        state = torch.load(path, weights_only=False)["state_dict"]
        layer = MoDeConstraint(order=0, from_logits=True, background_label=1, gather=True)
        start = "model.tasks.0.mode.mode."
        layer.load_state_dict({name.removeprefix(start): one for name, one in state.items() if name.startswith(start)})
        assert layer.state[1] == batches
