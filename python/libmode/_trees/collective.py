"""The workers of a training of XGBoost, each of which evaluates the events of all for its own derivatives."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray
from xgboost import collective


class Workers:
    """All workers of a training, often one. They call the same methods in the same order."""

    _rows = 0  # of all workers, as the first array has them

    def __init__(self) -> None:
        self.count, self._rank = collective.get_world_size(), collective.get_rank()

    def _each(self, own: float) -> NDArray[Any]:
        """The numbers of all workers, (workers,)."""
        rows = np.zeros(self.count)
        rows[self._rank] = own
        sums: NDArray[Any] = collective.allreduce(rows, collective.Op.SUM)
        return sums

    @contextmanager
    def agreed(self) -> Iterator[None]:
        """For what a worker does without the others: an error of one becomes an error of all."""
        mine = None
        try:
            yield
        except Exception as error:  # whatever it is, the others must not wait for this worker
            if self.count == 1:
                raise
            mine = error
        failed = self._each(mine is not None)
        if failed.any():
            first = int(np.argmax(failed))
            said = collective.broadcast((isinstance(mine, TypeError), str(mine)), first)
            raise (TypeError if said[0] else ValueError)(f"worker {first}: {said[1]}") from mine

    def gathered(self, own: Any) -> Any:
        """The array of all workers, from the arrays of each."""
        if self.count == 1 or not self._each(own is not None).any():
            return own
        own = np.zeros(0) if own is None else own  # of a worker without rows
        ends = self._each(len(own)).astype(int).cumsum()
        self._here = slice(ends[self._rank] - len(own), ends[self._rank])
        self._rows = self._rows or ends[-1]
        if ends[-1] != self._rows:  # on all of them
            raise ValueError(f"{ends[-1]} of {self._rows} rows have weights, or categories: give them to all workers")
        every = np.zeros((ends[-1], *own.shape[1:]))
        every[self._here] = own
        return collective.allreduce(every, collective.Op.SUM).reshape(every.shape).astype(own.dtype)

    def own(self, gathered: NDArray[Any]) -> NDArray[Any]:
        """The part of this worker."""
        return gathered if self.count == 1 else gathered[self._here]
