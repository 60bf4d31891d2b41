"""Distributed trainings of XGBoost, by Dask with two workers, against one process that has all rows."""

import warnings

import numpy as np
import pytest
import xgboost
from boosted import SMALL
from libmode.xgboost import metric, objective

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import dask.array
    import distributed
    import xgboost.dask

pytestmark = pytest.mark.filterwarnings("ignore")  # of Dask's own making
PARAMETERS = {"objective": "binary:logistic", "base_score": 0.5, "max_depth": 3, "learning_rate": 0.2, "nthread": 1}
ROUNDS = 10


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    folder = str(tmp_path_factory.mktemp("dask"))
    with (
        distributed.LocalCluster(2, threads_per_worker=1, dashboard_address=None, local_directory=folder) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


def parts(array):
    """In two parts of different sizes."""
    return dask.array.from_array(np.asarray(array), chunks=((1200, 800), *((k,) for k in np.shape(array)[1:])))


WEIGHT = np.linspace(0.5, 1.5, len(SMALL.label))


def of_workers(client, **how):
    fields = {"weight": parts(WEIGHT), "label_lower_bound": parts(SMALL.mass)}
    data = xgboost.dask.DaskDMatrix(client, parts(SMALL.features), parts(SMALL.label), **fields)
    found = xgboost.dask.train(client, PARAMETERS, data, ROUNDS, evals=[(data, "all")], **how)
    margin = found["booster"].predict(xgboost.DMatrix(SMALL.features), output_margin=True)
    return margin, found["history"]


def of_one(**how):
    data = xgboost.DMatrix(SMALL.features, SMALL.label, weight=WEIGHT, label_lower_bound=SMALL.mass)
    history = {}
    booster = xgboost.train(PARAMETERS, data, ROUNDS, evals=[(data, "all")], evals_result=history, **how)
    return booster.predict(xgboost.DMatrix(SMALL.features), output_margin=True), history


FIELD = "label_lower_bound"


def test_two_workers_train_as_one_process(client):
    """XGBoost on two Dask workers trains the trees that one process with all rows trains.

    Reason: objective and metric are of the rows of all workers.
    Holds: for objective and metric with the masses in a field of the data set, up to the single precision in which
    XGBoost adds up gradients.
    """
    how = {"obj": objective(FIELD, order=1), "custom_metric": metric(FIELD, of=("logloss", "dependence"))}
    two, history = of_workers(client, **how)
    one, history_of_one = of_one(**how)
    np.testing.assert_allclose(two, one, rtol=1e-3, atol=1e-4)  # XGBoost adds up gradients in single precision
    for name in ("logloss", "dependence"):
        np.testing.assert_allclose(history["all"][name], history_of_one["all"][name], rtol=1e-3, atol=1e-4)
    plain, _ = of_one()
    assert np.abs(plain - one).max() > 0.1


def test_arrays_of_all_rows_are_refused(client):
    with pytest.raises(Exception, match="mass has length 2000, but the training set has (1200|800) rows"):
        of_workers(client, obj=objective(SMALL.mass))
