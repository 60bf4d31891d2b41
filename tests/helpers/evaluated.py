"""All that the core finds for a loss: its bias, its bound of the curvature, and its parts, as C has them."""

from types import SimpleNamespace

import numpy as np
from libmode._evaluate import evaluate
from libmode._events import Events
from libmode._functions import _edges, _table
from libmode._options import check
from libmode._read import as_array, together, vector


def mode_evaluate(score, mass, *, weight=None, label=None, category=None, grad=True, hess=False, **options):
    return evaluate(check("mode", options), score, label, mass, weight, category, grad=grad, hess=hess, quality=True)


def mode_moments(score, mass, *, at, weight=None, label=None, **options):
    """F_b, c_l and c~_l at these scores."""
    events = Events(*together(as_array, score=score, label=label, mass=mass, weight=weight))
    checked, at = check("mode", options), vector("at", at).astype(float)
    edges, size = _edges(checked, events._replace(score=None)), checked.values["order"] + 1
    cdf, moments, bounded = (np.empty((len(at), columns)) for columns in (len(edges) - 1, size, size))
    _table(checked, events, n_at=len(at), at=at, capacity=len(edges) - 1, cdf=cdf, moments=moments, bounded=bounded)
    return SimpleNamespace(cdf=cdf, moments=moments, bounded=bounded)
