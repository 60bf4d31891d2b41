"""The nearest neighbours of each event in mass, and what each group of neighbours weighs."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ._arguments import whole


class Groups(NamedTuple):
    """A group of k events around each of n.

    members : (n, k), which events they are, each event itself among its own
    share : (n,), the weight of an event divided by the number of groups that it is in
    weight : (n,), of a group, the sum of the shares of its members; positive
    """

    members: NDArray[np.intp]
    share: NDArray[np.float64]
    weight: NDArray[np.float64]


def groups(mass: NDArray[np.float64], weight: NDArray[np.float64], n_neighbours: Any) -> Groups:
    """The groups of events that are nearest in mass, (n, d), by Euclidean distance."""
    from scipy.spatial import KDTree  # here, so that other metrics need NumPy alone

    size = whole("n_neighbours", n_neighbours, 1)
    if size > len(mass):
        raise ValueError(f"n_neighbours = {size} with {len(mass)} events: expected at most as many as there are events")
    members = KDTree(mass).query(mass, np.arange(1, size + 1))[1]
    # More than k events of the same masses may leave an event in no group, not even in its own.
    share = weight / np.maximum(np.bincount(members.ravel(), minlength=len(mass)), 1)
    sums = share[members].sum(axis=1)
    own = weight[members].sum(axis=1)
    bad = (sums <= 0) | (own <= 0)
    if bad.any():
        worst = int(np.argmax(bad))
        raise ValueError(
            f"weight sums to {own[worst]:g} over the {size} nearest neighbours of event {worst}, and to "
            f"{sums[worst]:g} with each over the number of groups that it is in: expected positive sums; "
            "use a larger n_neighbours"
        )
    return Groups(members, share, sums)
