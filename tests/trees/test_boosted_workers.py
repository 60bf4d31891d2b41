"""Trainings of XGBoost on several workers, against the same training in one process."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import dask
import dask.array as da
import numpy as np
import pytest
import xgboost
from distributed import Client, LocalCluster
from libmode._events import Events
from libmode.metrics import check
from libmode.xgboost import objective
from xgboost import dask as dxgb
from xgboost.tracker import RabitTracker


def at_once(count, work):
    """What ``work(rank)`` returns on each worker of a communicator, by rank."""
    tracker = RabitTracker(n_workers=count, host_ip="127.0.0.1")
    tracker.start()

    def on_a_worker(_):
        with xgboost.collective.CommunicatorContext(**tracker.worker_args()):
            rank = xgboost.collective.get_rank()
            return rank, work(rank)

    with ThreadPoolExecutor(count) as pool:
        return [result for _, result in sorted(pool.map(on_a_worker, range(count)), key=lambda pair: pair[0])]


def background(n, *, signed=False, masses=1):
    """Background events whose scores grow with the mass."""
    r = np.random.default_rng(1)
    mass = (60 + r.exponential(55, (n, masses))).astype(np.float32)
    score = 1 / (1 + np.exp(-r.normal(size=n) - (mass[:, 0] - 120) / 80))
    weight = np.where(r.random(n) < 0.2, -1.0, 1.0) * r.uniform(0.5, 1.5, n) if signed else None
    return Events(score, None, mass if masses > 1 else mass[:, 0], weight, None)


def derivatives(events, target, options):
    """Gradient and Hessian of two rounds as rows, and the loss, by a data set with these events."""
    margin = np.log(events.score / (1 - events.score))
    data = xgboost.DMatrix(margin[:, None], target)
    mode = objective(events.mass, weight=events.weight, category=events.category, **options)
    first, second = mode(margin, data), mode(margin + 0.1 * np.sin(margin), data)
    return np.stack([*first, *second]), mode.loss


@pytest.mark.parametrize("workers", [2, 4])
@pytest.mark.parametrize(
    ("options", "kind"),
    [
        ({"order": 1}, {}),
        ({"order": 3, "edges": [60, 70, 80, 100, 120, 160, 400], "unbiased": False}, {}),
        ({"order": 2, "monotonic": True, "max_slope": 0.5}, {"signed": True}),
        ({"order": 1, "missing": "ignore"}, {"masses": 2}),
    ],
)
def test_workers_have_the_derivatives_of_one_process(options, kind, workers):
    events, target = background(4000, **kind), np.arange(4000) % 3 == 0
    if options.get("missing"):
        events.mass[:100, 1] = np.nan
    events = events._replace(category=np.arange(4000) % 2)
    cuts = np.cumsum([0, *[3000, 1000, 0, 0][:workers]])

    def work(rank):
        own = slice(*cuts[rank : rank + 2])
        return derivatives(events.where(own), target[own], options)

    wanted, loss = derivatives(events, target, options)
    every = at_once(workers, work)
    found = np.concatenate([own for own, _ in every], axis=1)
    assert [one for _, one in every] == pytest.approx([loss] * workers, rel=1e-12)
    for one, other in zip(found, wanted, strict=True):
        assert abs(one - other).max() <= 1e-12 * abs(other).max()


def test_a_worker_may_have_no_rows_and_weights_are_of_all_or_of_none():
    events, target, weight = background(3000), np.arange(3000) % 3 == 0, np.linspace(0.5, 1, 3000)
    margin = np.log(events.score / (1 - events.score))

    def found(own, weight):
        data = xgboost.DMatrix(margin[own, None], target[own], weight=weight)
        return objective(events.mass[own], order=1)(margin[own], data)

    first, _ = at_once(2, lambda rank: found(slice(3000 * rank, 3000), weight[3000 * rank :]))
    np.testing.assert_allclose(first, found(slice(None), weight), rtol=1e-12, atol=1e-12)

    def partly(rank):
        with pytest.raises(ValueError, match="1500 of 3000 rows have weights, or categories: give them to all"):
            found(slice(1500 * rank, 1500 * (rank + 1)), None if rank else weight[:1500])

    at_once(2, partly)


def test_an_error_of_one_worker_is_an_error_of_all():
    mass = background(3000).mass
    data = [xgboost.DMatrix(np.zeros((3000, 1)), np.arange(3000) % 2, label_lower_bound=mass) for _ in range(2)]
    for margins, masses, message in (
        (np.zeros(3000), [mass, np.where(np.arange(3000) == 8, np.nan, mass)], r"worker 1: mass\[8\] = nan"),
        (np.zeros(3000), [mass, mass[1:]], "worker 1: mass has length 2999, but the training set has 3000 rows"),
        (np.where(np.arange(3000) == 5, np.inf, 0), ["label_lower_bound"] * 2, r"margin\[5\] = inf"),
        (np.zeros(3000), ["label_upper_bound"] * 2, "worker 0: mass = 'label_upper_bound': the DMatrix has no"),
    ):

        def work(rank, margins=margins, masses=masses, message=message):
            with pytest.raises(ValueError, match=message):
                objective(masses[rank], order=1)(margins, data[rank])

        at_once(2, work)


def test_a_field_of_the_dmatrix_has_the_masses():
    r = np.random.default_rng(3)
    label, mass = r.integers(0, 2, 4000), (60 + r.exponential(55, 4000)).astype(np.float32)
    weight = r.uniform(-0.2, 1, 4000).astype(np.float32)
    x = np.column_stack([r.normal(label), mass])
    data = xgboost.DMatrix(x, label, label_lower_bound=mass, label_upper_bound=weight)
    modes = objective("label_lower_bound", weight="label_upper_bound", order=1), objective(mass, weight=weight, order=1)
    parameters = {"objective": "binary:logistic", "max_depth": 3, "nthread": 1}
    field, array = (xgboost.train(parameters, data, 5, obj=mode).predict(data) for mode in modes)
    np.testing.assert_array_equal(field, array)
    with pytest.raises(ValueError, match="mass = 'mass': must be an array, or of a DMatrix one of label_lower_bound"):
        objective("mass", order=1)(np.zeros(4000), data)
    with pytest.raises(ValueError, match=r"goes on after another: xgboost.cv trains"):
        xgboost.cv(parameters, data, 5, nfold=2, obj=objective("label_lower_bound", order=1))


@pytest.fixture(scope="module")
def client():
    with LocalCluster(n_workers=4, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster) as client:
        yield client


def toy(n, seed):
    """Half signal at 150 GeV; one of the features knows the mass."""
    r = np.random.default_rng(seed)
    y = r.integers(0, 2, n)
    m = np.where(y == 1, r.normal(150, 15, n), r.uniform(50, 250, n))
    x = np.column_stack([r.normal(y), m + r.normal(0, 20, n), r.normal(0.5 * y)])
    return x.astype(np.float32), y.astype(np.float32), m.astype(np.float32)


def trained(client, events, sizes, **options):
    """A booster of workers with so many rows each."""

    def spread(array):
        parts = list(zip(client.nthreads(), np.split(array, np.cumsum(sizes)[:-1]), strict=False))
        there = [dask.delayed(client.scatter(part, workers=[worker], hash=False)) for worker, part in parts]
        of_dask = [da.from_delayed(one, part.shape, part.dtype) for one, (_, part) in zip(there, parts, strict=True)]
        return client.persist(da.concatenate(of_dask))

    x, y, m = map(spread, events)
    data = dxgb.DaskDMatrix(client, x, y, label_lower_bound=m)
    mode = objective("label_lower_bound", order=1)
    return dxgb.train(client, PARAMETERS, data, 100, obj=mode, **options)["booster"]


PARAMETERS = {"objective": "binary:logistic", "base_score": 0.5, "learning_rate": 0.15, "max_depth": 3}
PARAMETERS |= {"min_child_weight": 60}


def test_dask_trains_trees_as_flat_as_one_process(client):
    events, (x, y, m) = toy(30_000, 1), toy(6_000, 2)
    data = xgboost.DMatrix(events[0], events[1], label_lower_bound=events[2])
    in_order = [array[np.argsort(-events[1], kind="stable")] for array in events]  # the first worker has signal alone
    boosters = {
        "plain": xgboost.train(PARAMETERS, data, 20),
        "alone": xgboost.train(PARAMETERS, data, 100, obj=objective("label_lower_bound", order=1)),
        "two": trained(client, events, [20_000, 10_000]),
        "four": trained(client, in_order, [10_000, 13_000, 6_999, 1]),
    }
    checks = {name: check(one.predict(xgboost.DMatrix(x)), y, m, order=1) for name, one in boosters.items()}
    assert checks.pop("plain").flat is False
    for name, one in checks.items():
        assert one.flat is not False, name
        assert one.sensitivity > 0.9 * checks["alone"].sensitivity, name
