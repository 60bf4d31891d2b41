"""What the processes of a distributed training of XGBoost tell each other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import xgboost.collective as collective

T = TypeVar("T")


def of_all(make: Callable[[], T]) -> tuple[list[T], int]:
    """What ``make`` returns in each process, in the order of ranks, and the own rank.

    Every process has to call this, and an error of one, of whatever kind, is an error of all: on the others
    RuntimeError, which names the first of them. One process alone calls ``make`` and no more.
    """
    count, rank = collective.get_world_size(), collective.get_rank()
    if count == 1:
        return [make()], 0
    own: tuple[str, Any]
    error = None
    try:
        own = "", make()
    except Exception as caught:
        error, own = caught, (f"{type(caught).__name__}: {caught}", None)
    every = [collective.broadcast(own, root) for root in range(count)]
    if error is not None:
        raise error
    for of, (text, _) in enumerate(every):
        if text:
            raise RuntimeError(f"in process {of} of {count}: {text}")
    return [one for _, one in every], rank
