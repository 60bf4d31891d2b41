"""Trainings of XGBoost on several workers, each of which evaluates the background of all for its own derivatives."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray
from xgboost import collective

from .._evaluate import Result
from .._events import Events
from .._problems import Said
from .multipliers import Alone, Evaluation, refuse_missing


class Workers(Alone):
    """All workers of a training. They call the same methods in the same order."""

    def total(self, *sums: Any) -> list[NDArray[Any]]:
        arrays = [np.asarray(each, float) for each in sums]
        added = collective.allreduce(np.concatenate([each.ravel() for each in arrays]), collective.Op.SUM)
        parts = np.split(added, np.cumsum([each.size for each in arrays])[:-1])
        return [part.reshape(each.shape) for part, each in zip(parts, arrays, strict=True)]

    def each(self, own: float) -> NDArray[Any]:
        """The numbers of all workers, (workers,)."""
        rows = np.zeros(collective.get_world_size())
        rows[collective.get_rank()] = own
        return self.total(rows)[0]

    @contextmanager
    def agreed(self) -> Iterator[None]:
        mine = None
        try:
            yield
        except Exception as error:  # whatever it is, the others must not wait for this worker
            mine = error
        failed = self.each(mine is not None)
        if failed.any():
            first = int(np.argmax(failed))
            said = collective.broadcast((isinstance(mine, TypeError), str(mine)), first)
            raise (TypeError if said[0] else ValueError)(f"worker {first}: {said[1]}") from mine

    def evaluation(self, options: Mapping[str, Any], events: Events, at: NDArray[Any], said: Said) -> Evaluation:
        with self.agreed():
            refuse_missing(events.mass, at, options)
        ends = self.each(len(at)).astype(int).cumsum()
        here = slice(ends[collective.get_rank()] - len(at), ends[collective.get_rank()])

        def gathered(array: Any) -> Any:
            if array is None:
                return None
            every = np.zeros((ends[-1], *array.shape[1:]))
            every[here] = array
            return self.total(every)[0].astype(array.dtype)

        of_all = super().evaluation(options, Events(*map(gathered, events.where(at))), np.arange(ends[-1]), said)

        def evaluated(score: Any, **wanted: Any) -> Result:
            result = of_all(gathered(score), **wanted)
            own = (None if one is None else one[here] for one in (result.grad, result.hess))
            return Result(result.loss, result.bias, result.events, *own)

        return evaluated
