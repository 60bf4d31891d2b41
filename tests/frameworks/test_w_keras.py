"""The study of W tagging in Keras, in a process of its own, since Keras reads its backend once."""

from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import jet_samples

from examples.w_tagging import keras_check
from examples.w_tagging.study import Size, Task


def test_both_bindings_train_the_same_classifier(tmp_path):
    size = Size(jet_samples.write(tmp_path / "sample.npz", 10_000, 20_000), 15, 1_000, (1,))
    task = Task(keras_check.CHECKED, 1, size)
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        found = {
            f"{binding}, seed 1": pool.submit(keras_check.measured, keras_check.Checked(binding, task)).result()
            for binding in ("PyTorch", "Keras")
        }
    torch, keras = found.values()
    assert abs(torch["auc"] - keras["auc"]) < 0.02
    assert abs(torch["r50"] - keras["r50"]) < 0.25 * torch["r50"]
    for result in found.values():
        assert result["flatness"] < 2 * result["flatness_expected"]
    table = keras_check.table(found)
    assert table.count("\n") == 4 and f"| Keras | {keras['auc']:.4f} |" in table
