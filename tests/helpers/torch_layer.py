"""What PyTorch's layer makes of batches, in a process of its own: PyTorch and TensorFlow do not share one."""

import subprocess
import sys

import numpy as np


def layered(batches, directory, **arguments):
    """The gradients of the cross entropy by the scores, and all numbers of the state in the end.

    batches : of arrays score, label and mass, each of shape (n,)
    arguments : of libmode.torch.MoDeConstraint
    """
    np.savez(directory / "batches.npz", *(np.stack(batch) for batch in batches))
    command = [sys.executable, __file__, str(directory), repr(arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    results = list(np.load(directory / "results.npz").values())
    return results[:-1], results[-1]


if __name__ == "__main__":
    import ast
    from pathlib import Path

    import torch
    from libmode.torch import MoDeConstraint

    torch.set_num_threads(1)
    directory = Path(sys.argv[1])
    layer, results = MoDeConstraint(**ast.literal_eval(sys.argv[2])), []
    for batch in np.load(directory / "batches.npz").values():
        score, label, mass = (torch.tensor(row, dtype=torch.float32) for row in batch)
        score.requires_grad_()
        torch.nn.functional.binary_cross_entropy(layer(score, label, mass), label).backward()
        results.append(score.grad.numpy())
    np.savez(directory / "results.npz", *results, torch.cat([layer.state, layer.sums]).numpy())
