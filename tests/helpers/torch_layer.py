"""What PyTorch's layer makes of batches, in a process of its own: PyTorch and TensorFlow do not share one."""

import pickle
import sys
from pathlib import Path

import numpy as np
from programs import run

N = 512  # half of them background; no rank of these is at the limit of a cell, where rounding decides


def events(seed=0, n=N):
    """Score, label, mass and weight."""
    rng = np.random.default_rng(seed)
    label, mass = np.arange(n) % 2, rng.random(n).astype(np.float32)
    score = np.clip(0.75 * rng.random(n) + 0.2 * mass + 0.05 * label, 0.01, 0.99).astype(np.float32)
    return score, label, mass, rng.uniform(0.5, 2, n).astype(np.float32)


def entropy_and_gradient(score, label, weight=1.0):
    """The mean of the weighted cross entropies, and its gradient."""
    score = score.astype(float)
    values = -(label * np.log(score) + (1 - label) * np.log(1 - score))
    return np.mean(weight * values), weight * (score - label) / (score * (1 - score)) / len(score)


def assert_close(grad, want, rtol=2e-5):
    np.testing.assert_allclose(grad, want, rtol=0, atol=rtol * np.abs(want).max())


def layered(cases, directory):
    """By name of a case: the gradients by the scores after each step, and all numbers of the state in the end.

    cases : by name, the arguments of libmode.torch.MoDeConstraint, and of each step the gradient that comes in and the
        arrays of the call by name; reference is a tuple of arrays
    """
    path = directory / "cases.pickle"
    path.write_bytes(pickle.dumps(cases))
    run(sys.executable, __file__, path)
    return pickle.loads(path.read_bytes())


if __name__ == "__main__":
    import torch
    from libmode.torch import Events, MoDeConstraint

    torch.set_num_threads(1)
    path, results = Path(sys.argv[1]), {}
    for name, (arguments, steps) in pickle.loads(path.read_bytes()).items():
        layer, grads = MoDeConstraint(**({"order": 1} | arguments)), []
        for incoming, given in steps:
            reference = [None if array is None else torch.tensor(array) for array in given.pop("reference", ())]
            tensors = {key: torch.tensor(array) for key, array in given.items()}
            score = tensors.pop("score").requires_grad_()
            out = layer(
                score, tensors.pop("label"), tensors.pop("mass"),
                reference=Events(*reference) if reference else None, **tensors,
            )  # fmt: skip
            grads.append(torch.autograd.grad(out, score, torch.tensor(incoming))[0].numpy())
        results[name] = grads, layer.state.numpy()
    path.write_bytes(pickle.dumps(results))
