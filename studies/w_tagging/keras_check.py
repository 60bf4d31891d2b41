"""The study in Keras, for comparison: ``python -m studies.w_tagging.keras_check``.

MoDe[1] with libmode.keras on TensorFlow, beside the same network, schedule and choice in PyTorch.
Writes keras.json; the table of docs/zoo.md is made of that.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import nn

from .. import pages
from ..command import command
from ..methods import one_thread
from . import paper
from .classifiers import METHODS
from .measure import fit_of, mass_edges, performance
from .sample import Sample, load
from .study import Size, Task, Trained, prepared_split, seconds, trained
from .train import RAMP, Choice, in_epoch, new_network, one_cycle, shuffled

KERAS = Path(__file__).with_name("keras.json")
METHOD, STRENGTH = "MoDe[1]", 300
CHECKED = next(c for c in METHODS[METHOD] if c.strength == STRENGTH)
KEPT = ("auc", "r50", "r50_error", "jsd", "flatness", "flatness_expected", "bias")


@dataclass(frozen=True)
class Checked:
    """A training with one of the bindings, PyTorch or Keras."""

    binding: str
    task: Task


def tasks(size: Size) -> dict[str, Checked]:
    """A training with each binding for each seed."""
    by_name = paper.tasks(size)
    return {
        f"{binding}, seed {seed}": Checked(binding, by_name[paper.key(CHECKED, seed)])
        for binding in ("PyTorch", "Keras")
        for seed in size.seeds
    }


def measured(checked: Checked) -> dict[str, Any]:
    """Trains once and measures."""
    one_thread()
    task = checked.task
    sample = load(task.size.sample)
    found = trained(task, sample) if checked.binding == "PyTorch" else trained_in_keras(task, sample)
    result = performance(found.score, found.mass, found.label, CHECKED.order, mass_edges(sample), fit_of(sample))
    return {"epoch": found.epoch, **{name: result[name] for name in KEPT}}


def trained_in_keras(task: Task, sample: Sample) -> Trained:
    """The counterpart of :func:`.study.trained` in Keras, for MoDe."""
    classifier, epochs = task.classifier, task.size.epochs
    (training, validation, test), places = prepared_split(task, sample)
    batches = in_epoch(training, task.size.batch)
    rates, momenta = schedule(epochs * batches)

    os.environ["KERAS_BACKEND"] = "tensorflow"
    # After PyTorch's optimizer, which loads PyTorch's compiler: in the other order the process aborts.
    import keras
    import tensorflow as tf
    from libmode.keras import MoDeLoss, pack

    tf.config.threading.set_intra_op_parallelism_threads(1)
    tf.config.threading.set_inter_op_parallelism_threads(1)
    torch.manual_seed(task.seed)
    grown, mode = keras.Variable(0.0), MoDeLoss(base=None, **classifier.options)
    weight_of = {label: float(training.weight[training.label == label][0]) for label in (0, 1)}

    def loss(y_true: Any, y_pred: Any) -> Any:
        label = y_true[:, :1, 0]
        entropy = keras.losses.binary_crossentropy(label, y_pred)
        weight = keras.ops.where(label[:, 0] == 1, weight_of[1], weight_of[0])
        return keras.ops.mean(weight * entropy) + grown * classifier.strength * mode(y_true, y_pred)

    optimizer = keras.optimizers.Adam(epsilon=1e-8)  # PyTorch's
    optimizer.beta_1 = keras.Variable(momenta[0])
    network = keras_network(keras, new_network(training.inputs.shape[1]))
    network.compile(optimizer, loss)

    inputs, label, mass = (t.numpy() for t in (training.inputs, training.label, training.mass))
    packed = pack(label, mass)
    checked_inputs, checked = validation.inputs.numpy(), pack(validation.label.numpy(), validation.mass.numpy())
    choice, ramp = Choice(), round(RAMP * epochs)
    step = 0
    for epoch in range(epochs):
        for chosen in (batch.numpy() for batch in shuffled(training, batches)):
            optimizer.learning_rate, grown_now = rates[step], min(1.0, step / (ramp * batches)) if ramp else 1.0
            optimizer.beta_1.assign(momenta[step])
            grown.assign(grown_now)
            network.train_on_batch(inputs[chosen], packed[chosen])
            step += 1
        if epoch >= ramp:
            grown.assign(1.0)
            score = network.predict(checked_inputs, batch_size=100_000, verbose=0)
            choice.offer(epoch, float(loss(keras.ops.convert_to_tensor(checked), keras.ops.convert_to_tensor(score))),
                         network.get_weights())  # fmt: skip
    network.set_weights(choice.state)
    score = network.predict(test.inputs.numpy(), batch_size=100_000, verbose=0)[:, 0]
    return Trained(score, sample.mass[places[2]], sample.label[places[2]], choice.epoch)


def keras_network(keras: Any, first: nn.Sequential) -> Any:
    """The network of :func:`.train.new_network` with its weights."""
    layers, state = keras.layers, {name: values.numpy() for name, values in first.state_dict().items()}
    network = keras.Sequential(
        [layers.Input((first[0].in_features,)),
         layers.Dense(64, "silu"), layers.BatchNormalization(momentum=0.9, epsilon=1e-5),
         layers.Dense(64, "silu"), layers.Dense(64, "silu"), layers.Dense(1, "sigmoid")]
    )  # fmt: skip
    dense = [values for k in (0, 3, 5, 7) for values in (state[f"{k}.weight"].T, state[f"{k}.bias"])]
    normalized = [state[f"2.{name}"] for name in ("weight", "bias", "running_mean", "running_var")]
    network.set_weights([*dense[:2], *normalized, *dense[2:]])
    return network


def schedule(steps: int) -> tuple[list[float], list[float]]:
    """Learning rate and momentum of each step, from PyTorch's schedule."""
    optimizer, cycle = one_cycle(new_network(1), steps)
    group, rates, momenta = optimizer.param_groups[0], [], []
    for _ in range(steps):
        rates.append(float(group["lr"]))
        momenta.append(float(group["betas"][0]))
        optimizer.step()
        cycle.step()
    return rates, momenta


def table(results: Mapping[str, Any]) -> str:
    """The table of both bindings."""
    rows = [["binding", "AUC", "R50", "1/JSD", "residual over expected", "bias"]]
    for binding in ("PyTorch", "Keras"):
        seeds = [result for key, result in results.items() if key.startswith(f"{binding}, ")]
        bias = [seed["bias"]["value"] for seed in seeds]
        rows.append(
            [
                binding,
                pages.over_seeds([seed["auc"] for seed in seeds], 4),
                pages.over_seeds([seed["r50"] for seed in seeds], 2),
                pages.over_seeds([1 / seed["jsd"] for seed in seeds], 0),
                pages.over_seeds([seed["flatness"] / seed["flatness_expected"] for seed in seeds], 2),
                "-" if None in bias else pages.over_seeds(bias, 2),
            ]
        )
    return pages.table(rows)


def seconds_of(checked: Checked) -> float:
    """About what a training takes on one core; Keras is as fast, within a factor of 2."""
    return seconds(checked.task)


if __name__ == "__main__":
    found = command(
        "w_tagging.keras_check", __doc__.split("\n")[0], tasks, measured, seconds_of,
        (paper.FULL, paper.QUICK), KERAS, samples=True,
    )  # fmt: skip
    print(table(found))
