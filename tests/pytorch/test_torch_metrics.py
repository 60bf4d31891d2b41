"""libmode.torch.metrics: what is collected batch by batch, and by several processes, is what NumPy makes of all events."""

import numpy as np
import processes
import torch
from libmode import metrics
from libmode.torch.metrics import MoDeMetrics

N = 6000


def events(seed=0):
    """Score, target, mass and weights, as float32 tensors."""
    rng = np.random.default_rng(seed)
    target = rng.integers(0, 2, N)
    score = 1 / (1 + np.exp(-rng.normal(target)))
    arrays = score, target, 50 + rng.exponential(60, N), rng.choice([0.5, 1.0, 2.0], N)
    return [torch.tensor(array, dtype=torch.float32) for array in arrays]


def of_numpy(score, target, mass, weights=None, prefix="val_mode_", **arguments):
    score, target, mass, weights = (None if x is None else x.numpy() for x in (score, target, mass, weights))
    check = metrics.check(score, target, mass, weight=weights, **arguments)
    found = {"auc": metrics.auc(score, target, weight=weights), **check.to_dict()}
    numbers = {name: value for name, value in found.items() if not isinstance(value, str)}
    return {prefix + name: np.nan if value is None else float(value) for name, value in numbers.items()}


def assert_same(found, wanted):
    assert list(found) == list(wanted)
    np.testing.assert_array_equal(list(found.values()), list(wanted.values()))


def test_batches_make_what_all_events_make():
    score, target, mass, weights = events()
    weights[3000:] = 1
    arguments = dict(order=1, search_events=10_000, signal_efficiency=(0.7, 0.3), bins=10, mass_range=(50, 300))
    own, buffer = MoDeMetrics(**arguments), torch.empty(1000)
    for _ in range(2):
        for start in range(0, N, 1000):
            part = slice(start, start + 1000)
            buffer.copy_(score[part])  # each batch is written over the last one
            own.update(buffer, target[part], mass[part], weights[part] if start < 3000 else None)
        for _ in range(2):
            assert_same(own.compute(), of_numpy(score, target, mass, weights, **arguments))
        assert own.check.flat == metrics.check(*events()[:3], weight=weights, **arguments).flat
        own.reset()


def test_scores_of_bfloat16():
    score, target, mass, _ = events()
    half = score.bfloat16()
    assert metrics.auc(half, target) == metrics.auc(half.float().numpy(), target.numpy())
    assert metrics.check(half, target, mass, order=0).events == N - float(target.sum())


def test_the_verdict_is_printed_unless_it_is_to_be_silent(capsys):
    score, target, mass, _ = events()
    for verbose in (True, False):
        own = MoDeMetrics(order=0, verbose=verbose)
        own.update(score, target, mass)
        found = own.compute()
        assert capsys.readouterr().out == (f"{own.check.why}\n" if verbose else "")
        assert found["val_mode_rank"] == own.check.rank


def in_a_process(rank):
    score, target, mass, weights = events()
    own, part = MoDeMetrics(order=1), slice(4000) if rank else slice(4000, None)
    own.update(score[part], target[part], mass[part], weights[part] if rank else None)
    both = own.compute()
    own.reset()
    if rank:  # the other process has none
        own.update(score, target, mass)
    return both, own.compute()


def test_processes_compute_the_numbers_of_all_their_events():
    # In the order of the processes.
    score, target, mass, weights = (torch.cat([tensor[4000:], tensor[:4000]]) for tensor in events())
    weights[:2000] = 1
    want = of_numpy(score, target, mass, weights, order=1), of_numpy(*events()[:3], order=1)
    for of_process in processes.run(2, in_a_process):
        for found, wanted in zip(of_process, want, strict=True):
            assert_same(found, wanted)
