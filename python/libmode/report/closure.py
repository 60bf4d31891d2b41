"""The closure of the ABCD method of each score with a second one."""

from __future__ import annotations

import numpy as np

from .. import metrics
from ..metrics.closure import Closure
from .sample import Sample


def closure(sample: Sample, place: int) -> Closure:
    """That of the score at this place, from the events that are kept, which stand for all of their class."""
    parts = sample.parts()
    scores = np.concatenate([part.scores[place] for part in parts])
    second = np.concatenate([part.second for part in parts if part.second is not None])
    label = np.repeat(np.arange(len(parts)), [len(part.mass) for part in parts])
    signal = sample.signal or 0
    weight = np.concatenate(
        [
            (np.ones(len(part.mass)) if part.weight is None else part.weight.astype(np.float64)) * (of / len(part.mass))
            for part, of in zip(parts, (sample.events - signal, signal), strict=False)
        ]
    )
    return metrics.closure(scores, second, label, weight=weight)
