"""After a fork the library works again or says why not: this file runs itself in a process of its own, where nothing may hang."""

import os
import signal
import sys
import tempfile
import threading

import libmode
import numpy as np
import torch
from libmode.torch import MoDeLoss
from programs import run

LIMIT = 100  # seconds, after which an alarm kills a process that hangs
N = 50_000  # so many that several threads share a call, whose loss in a child is what makes it hang


class Losses(torch.utils.data.Dataset):
    """Loss and gradient of events, by NumPy and by PyTorch."""

    def __len__(self):
        return 4

    def __getitem__(self, seed):
        rng = np.random.default_rng(seed)
        score, mass = rng.random(N), rng.random(N)
        loss, grad = libmode.mode_loss_and_grad(score, mass, order=2, monotonic=True)
        leaf = torch.from_numpy(score).requires_grad_()
        MoDeLoss(order=1)(leaf, torch.zeros(N), torch.from_numpy(mass)).backward()
        return torch.tensor(loss), torch.from_numpy(grad), leaf.grad


def expect(wanted):
    assert all(map(torch.equal, Losses()[0], wanted))


def in_child(function, *arguments):
    """Fails unless the function returns in a forked child."""
    pid = os.fork()
    if pid == 0:
        signal.alarm(LIMIT)  # not inherited
        status = 1
        try:
            function(*arguments)
            status = 0
        except BaseException:
            sys.excepthook(*sys.exc_info())
        finally:
            sys.stderr.flush()
            os._exit(status)
    assert os.waitpid(pid, 0)[1] == 0


def without_any_file():
    tempfile.tempdir = "/dev/null/missing"
    try:
        Losses()[0]
    except ImportError as error:
        for part in ("forked", "/dev/null/missing", "set TMPDIR to", "spawn"):
            assert part in str(error), error
    else:
        raise AssertionError("no error in the child")


def main():
    signal.alarm(LIMIT)
    torch.set_num_threads(1)  # those of PyTorch itself do not outlive a fork
    in_child(Losses().__getitem__, 0)  # before the parent has used the library
    data = [Losses()[seed] for seed in range(len(Losses()))]
    in_child(expect, data[0])
    in_child(in_child, expect, data[0])
    loading = threading.Thread(target=lambda: [Losses()[1] for _ in range(20)])
    loading.start()
    in_child(expect, data[0])  # while another thread computes
    loading.join()
    loader = torch.utils.data.DataLoader(Losses(), batch_size=None, num_workers=2, multiprocessing_context="fork")
    for _ in range(2):
        for row, wanted in zip(loader, data, strict=True):
            assert all(map(torch.equal, row, wanted))
    expect(data[0])
    in_child(without_any_file)


def test_children_compute_what_their_parent_does():
    run(sys.executable, __file__, timeout=2 * LIMIT, PYTHONPATH=os.pathsep.join(sys.path))


if __name__ == "__main__":
    main()
