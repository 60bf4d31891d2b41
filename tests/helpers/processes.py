"""Several processes that torch.distributed joins by gloo, each with one thread."""

import os
import tempfile
import traceback
from datetime import timedelta
from pathlib import Path

import torch
import torch.distributed as dist
import torch.multiprocessing as mp

TIMEOUT = 60  # seconds that a process waits for the others, which is an error then


def run(count, function, *arguments):
    """What ``function(rank, *arguments)`` returns in each of so many processes, in the order of ranks.

    Of a process that ends with an exception it is that exception's text, and of one that was killed None.
    """
    context = mp.get_context("spawn")
    with tempfile.TemporaryDirectory() as folder:
        workers = [
            context.Process(target=_work, args=(rank, count, Path(folder), function, arguments), daemon=True)
            for rank in range(count)
        ]
        for worker in workers:
            worker.start()
        try:
            for worker in workers:
                worker.join()
        finally:
            for worker in workers:
                worker.kill()
        results = [Path(folder) / f"{rank}.pt" for rank in range(count)]
        return [torch.load(path, weights_only=False) if path.exists() else None for path in results]


def _work(rank, count, folder, function, arguments):
    torch.set_num_threads(1)
    store = f"file://{folder / 'store'}"
    timeout = timedelta(seconds=TIMEOUT)
    dist.init_process_group("gloo", init_method=store, rank=rank, world_size=count, timeout=timeout)
    try:
        result = function(rank, *arguments)
        dist.barrier()
    except BaseException as error:
        result = f"{type(error).__name__}: {error}\n{traceback.format_exc()}"
    torch.save(result, folder / f"{rank}.pt")
    os._exit(0)  # a process group whose other end is gone does not end in peace
