"""A DataLoader of torch whose workers compute the loss: ``python loader.py fork|spawn|forkserver``, in a process of its own."""

from __future__ import annotations

import signal
import sys

import libmode
import numpy as np
import torch
from libmode.torch import MoDeLoss

LIMIT = 300  # seconds: workers that are spawned import torch anew, on a busy machine

N = 50_000  # so many that several threads share a call


class Losses(torch.utils.data.Dataset):
    """Loss and gradient of events, by NumPy and by torch."""

    def __len__(self):
        return 6

    def __getitem__(self, seed):
        rng = np.random.default_rng(seed)
        score, mass = rng.random(N), rng.random(N)
        loss, grad = libmode.mode_loss_and_grad(score, mass, order=2, monotonic=True)
        leaf = torch.from_numpy(score).requires_grad_()
        value = MoDeLoss(order=1)(leaf, torch.zeros(N), torch.from_numpy(mass))
        value.backward()
        return torch.tensor(loss), torch.from_numpy(grad), value.detach(), leaf.grad


def main(method: str) -> None:
    """Two epochs, in a parent that has used the library before."""
    data = Losses()
    want = [data[seed] for seed in range(len(data))]
    loader = torch.utils.data.DataLoader(data, batch_size=None, num_workers=2, multiprocessing_context=method)
    for _ in range(2):
        got = list(loader)
        assert len(got) == len(want)
        for row, want_row in zip(got, want, strict=True):
            assert all(map(torch.equal, row, want_row))


if __name__ == "__main__":
    signal.alarm(LIMIT)
    main(sys.argv[1])
