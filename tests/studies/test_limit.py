"""The committed limits, proved by events of the zoo: densities and multipliers that are wrong give another bound."""

import numpy as np
import pytest

from studies.limit.densities import BINS, PROBLEMS, Smeared
from studies.limit.report import limits
from studies.zoo import events

FRESH = 30_000  # events
#: How the features of a problem come from the zoo's, and from the mass.
OF_ZOO = {
    "simple": (events.simple, lambda x, m: np.column_stack([x[:, 0], m])),
    "modified": (events.modified, lambda x, m: np.column_stack([x[:, 0], m])),
    "tagger": (events.tagger, lambda x, m: np.column_stack([x[:, :5], np.log(x[:, 5]), x[:, 6]])),
    "steep": (events.steep, lambda x, m: x[:, :5]),
    "slices": (events.slices, lambda x, m: x[:, :5]),
    "slices without weights": (events.slices_unweighted, lambda x, m: x[:, :5]),
}


def drawn(name, seed=7):
    """Training events of the zoo, as doubles: features, label, mass and weight."""
    draw, of_zoo = OF_ZOO[name]
    found = draw(seed)[0]
    return of_zoo(found.features.astype(float), found.mass.astype(float)), found.label, found.mass, found.weight + 0.0


def efficiency_of(chosen, weight):
    """The share of the weight that is chosen, and its variance."""
    share = weight[chosen].sum() / weight.sum()
    return share, ((weight * (chosen - share)) ** 2).sum() / weight.sum() ** 2


@pytest.mark.full
@pytest.mark.parametrize("name", PROBLEMS)
def test_committed_multipliers_prove_their_limit_with_counts_of_events_of_the_zoo(name):
    """By duality, see ``bound``, with efficiencies of labelled events: densities only decide which are selected."""
    features, label, mass, weight = (values[:FRESH] for values in drawn(name, seed=11))
    problem = PROBLEMS[name]()
    density, share, _ = problem.densities(features), *problem.bins()
    edges = problem.quantile(np.linspace(0, 1, BINS + 1)) if isinstance(problem, Smeared) else np.linspace(-1, 1, 21)
    place = np.clip(np.searchsorted(edges, mass, "right") - 1, 0, BINS - 1)
    for kind in ("0", "1", "2"):
        for residual in ("0.1", "0.3"):
            one = limits()[f"{name}; {kind}; 50 %"]["of"][residual]
            multipliers, b = np.array(one["multipliers"]), np.array(one["bins"])
            chosen = density.signal > density.background @ multipliers
            classes = [label == 1, *((label == 0) & (place == k) for k in range(BINS))]
            found, variance = np.transpose([efficiency_of(chosen[c], weight[c].astype(float)) for c in classes])
            price = share @ b / (multipliers @ b)
            least = price * (0.5 - found[0] + multipliers @ found[1:])
            chance = price * np.sqrt(variance[0] + multipliers**2 @ variance[1:])
            assert chance < 0.3 * one["background"]
            assert least == pytest.approx(one["background"], abs=3.5 * chance)
