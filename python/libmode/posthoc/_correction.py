"""A QuantileMap as a correction of correctionlib: the map at the nodes of a grid, and lines between."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from .quantile_map import QuantileMap

Doubles = NDArray[np.float64]
EVERY, TAIL = 4, 16  # each fourth level of the score is a node, and the first and last 16
PARTS = 2  # of an interval of the mass that has the median width; wider ones have more
INPUTS = ["score", "mass"]
# The value at the lowest corner of a cell, and slopes times the distances from that corner.
FORMULA = "[0]+[1]*(x-[4])+([2]+[3]*(x-[4]))*(y-[5])"


def correction(quantile_map: QuantileMap, name: str) -> dict[str, Any]:
    """The correction by the schema v2. In a cell of the grid the map is linear in the score and in the mass."""
    if len(quantile_map.knots_) > 1:
        raise ValueError(f"the map has {len(quantile_map.knots_)} variables of mass: a correction takes one")
    place = np.arange(len(quantile_map.levels_))
    score = quantile_map.levels_[(place % EVERY == 0) | (place < TAIL) | (place >= len(place) - TAIL)]
    mass = _nodes(quantile_map.knots_[0])
    mapped = quantile_map.transform(np.repeat(score, len(mass)), np.tile(mass, len(score))).reshape(len(score), -1)
    # Beyond the nodes the map moves with the score, and is constant in the mass.
    mapped = np.pad(np.concatenate([mapped[:1] - 1, mapped, mapped[-1:] + 1]), [(0, 0), (1, 1)], "edge")
    scores, masses = np.r_[score[0] - 1, score, score[-1] + 1], np.r_[mass[0] - 1, mass, mass[-1] + 1]
    slope = np.diff(mapped, axis=0) / np.diff(scores)[:, None]
    of_mass = np.diff(mapped, axis=1) / np.diff(masses)
    both = np.diff(slope, axis=1) / np.diff(masses)
    corners = np.meshgrid(scores[:-1], masses[:-1], indexing="ij")
    rows = np.stack([mapped[:-1, :-1], slope[:, :-1], of_mass[:-1], both, *corners], -1)
    if quantile_map.targets_ is None:  # probabilities, which are 0 and 1 there
        rows[[0, -1], :, :4] = 0
        rows[-1, :, 0] = 1
    return {
        "name": name,
        "description": f"{quantile_map!r} of libmode: the mapped score",
        "version": 1,
        "inputs": [{"name": one, "type": "real"} for one in INPUTS],
        "output": {"name": "mapped", "type": "real"},
        "generic_formulas": [
            {"nodetype": "formula", "expression": FORMULA, "parser": "TFormula", "variables": INPUTS},
        ],
        "data": {
            "nodetype": "multibinning",
            "inputs": INPUTS,
            "edges": [["-inf", *nodes.tolist(), "inf"] for nodes in (score, mass)],
            "content": [
                {"nodetype": "formularef", "index": 0, "parameters": row} for row in rows.reshape(-1, 6).tolist()
            ],
            "flow": "clamp",
        },
    }


def _nodes(knots: Doubles) -> Doubles:
    """The knots, and masses between."""
    widths = np.diff(knots)
    counts = np.clip(np.ceil(PARTS * widths / np.median(widths)), PARTS, 8 * PARTS).astype(int)
    pairs = zip(knots, knots[1:], counts, strict=False)
    parts = [np.linspace(low, high, count, endpoint=False) for low, high, count in pairs]
    return np.asarray(np.concatenate([*parts, knots[-1:]]))
