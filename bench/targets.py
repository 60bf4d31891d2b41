"""The numbers that libmode set out to reach, each beside what was measured."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from .methods import FLOAT_SORT, MODELOSS, PLAIN_ORDER_2, PLAIN_TORCH, STRONG
from .timing import Timing

Key = tuple[str, int]  #: method and number of events


@dataclass(frozen=True)
class Target:
    """One number: at least or at most ``bound``; ``measured`` None where it was not measured."""

    case: str
    measured: float | None
    bound: float
    at_least: bool

    def __str__(self) -> str:
        sign = ">=" if self.at_least else "<="
        if self.measured is None:
            return f"{self.case:<74} {'-':>9}  {sign} {self.bound:<6g} not measured"
        good = self.measured >= self.bound if self.at_least else self.measured <= self.bound
        return f"{self.case:<74} {self.measured:>9.3g}  {sign} {self.bound:<6g} {'reached' if good else 'NOT REACHED'}"


def targets(
    times: Mapping[Key, Timing], extra: Mapping[Key, int | None], shares: Mapping[int, float], boosting: float
) -> Iterator[Target]:
    """All of them. times, extra : medians and bytes by method and n; shares : of a training step, by batch;
    boosting : a round of XGBoost with MoDe over one without."""

    def time(name: str, n: int) -> float | None:
        timing = times.get((name, n))
        return timing and timing.median

    def at_most(case: str, bound: float, top: float | None, bottom: float | None) -> Target:
        return Target(case, _ratio(top, bottom), bound, at_least=False)

    def faster(bound: float, n: int, ours: str, theirs: str) -> Target:
        return Target(f"n = {n:,}: {ours} faster than {theirs}", _ratio(time(theirs, n), time(ours, n)), bound, True)

    for n, floor in ((10**6, 0.7), (10**5, 1.0), (10**7, 0.3)):
        yield at_most(f"n = {n:,}: {PLAIN_ORDER_2} / np.argsort", floor, time(PLAIN_ORDER_2, n), time("np.argsort", n))
    yield at_most(
        f"n = 1,000,000: {PLAIN_ORDER_2} / torch.sort", 0.3, time(PLAIN_ORDER_2, 10**6), time("torch.sort", 10**6)
    )
    for n, bound in ((10**6, 0.3), (10**5, 0.35), (10**4, 1.1), (10**3, 5.5)):
        yield at_most(f"n = {n:,}: {PLAIN_ORDER_2} / np.sort", bound, time(PLAIN_ORDER_2, n), time("np.sort", n))
    for rival in (STRONG, FLOAT_SORT):
        for n in (10**6, 10**5, 10**4):
            yield faster(15, n, PLAIN_ORDER_2, rival)
        yield faster(10, 1_000, PLAIN_TORCH, rival)
    yield faster(5_000, 32_000, PLAIN_ORDER_2, MODELOSS)
    less = _ratio(extra.get((MODELOSS, 32_000)), extra.get((PLAIN_ORDER_2, 32_000)))
    yield Target(f"n = 32,000: {PLAIN_ORDER_2} needs less extra memory than {MODELOSS}", less, 500, True)
    yield _completes(times, extra)
    for option in ("unbiased", "max_slope", "monotonic"):
        yield at_most(
            f"n = 1,000,000: {option} / plain", 2, time(f"{PLAIN_ORDER_2} {option}", 10**6), time(PLAIN_ORDER_2, 10**6)
        )
    for name in (PLAIN_ORDER_2, f"{PLAIN_ORDER_2} monotonic+unbiased"):
        for n in (10**5, 10**6):
            yield at_most(f"n = {n:,}: {name}, 256 / 32 bins", 1.2, time(f"{name} 256 bins", n), time(name, n))
    for n in (10**6, 10**7):
        yield at_most(f"n = {n:,}: extra bytes an event", 24, extra.get((PLAIN_ORDER_2, n)), n)
    for batch in (10**4, 10**5):
        yield Target(f"share of a training step, batch {batch:,}", shares.get(batch), 0.05, at_least=False)
    yield Target("n = 1,000,000: round of XGBoost with MoDe / without", boosting, 1.3, at_least=False)


def _completes(times: Mapping[Key, Timing], extra: Mapping[Key, int | None]) -> Target:
    n = 10**8
    size = extra.get((PLAIN_ORDER_2, n))
    # scores, masses and the gradient are 12 bytes an event
    needed = None if size is None or (PLAIN_ORDER_2, n) not in times else (size + 12 * n) / 2**30
    return Target(f"n = {n:,}: GiB, with inputs and outputs", needed, 24, at_least=False)


def _ratio(top: float | None, bottom: float | None) -> float | None:
    return None if top is None or not bottom else top / bottom
