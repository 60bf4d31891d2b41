"""The rule of a check: which spurious signals make a cut flat, which do not, and which events would tell."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from ._bins import Doubles
from ._result import AtCut, rounded
from ._sample import Settings
from ._templates import HALF, TEN, Scan

# The rule, see :func:`libmode.metrics.check`.
NOT_FLAT = 0.01  # global p
FEWEST_TESTS = 20  # so that a verdict of few tests cannot change with more of them
SIGMAS = 2.0  # of the upper end
HARMLESS = 1.0  # upper end in errors of the search
ALONE = NOT_FLAT / FEWEST_TESTS  # the p-value of one test that is not flat however many there are


class Context(NamedTuple):
    """What the cuts of a check share."""

    settings: Settings
    events: float  #: n, the effective background events
    search: float  #: N, the events of the search
    taught: float  #: sqrt(1 + n / T): a training with T events leaves fluctuations of its own


class Test(NamedTuple):
    """Some tests, with the smallest p-value and the worst that could hide."""

    said: str  #: what the most significant one sees
    p: float  #: local, the smallest
    number: int = 1
    passed: bool = True  #: whether it is flat as far as these tests tell
    hides: str = ""  #: what could hide
    growth: float = math.inf  #: how many times as many events would tell


def p_of(z: float) -> float:
    """The two-sided p-value of a Gaussian."""
    return math.erfc(abs(z) / math.sqrt(2))


Z_ALONE = NormalDist().inv_cdf(1 - ALONE / 2)


def judge_scan(cut: AtCut, found: Scan, needed: Doubles, name: str, at: Context) -> tuple[AtCut, list[Test]]:
    """The tests of all templates of a variable, and the cut with the one that decides. ``needed`` must be known."""
    limit, tests, wide = at.settings.flat_below, [], found.width == np.nanmax(np.append(found.width, 0))
    for mass in needed.tolist():
        k = int(np.argmin(np.where(wide, np.abs(found.at - mass), np.inf)))
        if not found.known[k]:
            few = f"{found.events[k]:.2g} effective selected events lie under the template at {found.place(k, name)}"
            tests.append(unknown(f"only {few}, and {TEN} are needed", TEN / max(found.events[k], 0.1)))
        elif mass == needed[0]:
            cut = replace(cut, bump=float(found.height[k] * (abs(found.signal[k]) + SIGMAS * at.taught)))
    found = Scan(*(each[found.known] for each in found))  # type: ignore[arg-type]
    if not len(found.at):
        return cut, tests
    signal, error = found.signal * found.size, found.size * at.taught
    upper, here = np.abs(signal) + SIGMAS * error, np.abs(found.signal) + SIGMAS * at.taught
    # Half of the background counts where a search with the events of this sample could tell.
    excess = np.maximum(upper / limit, np.minimum(here * found.own / limit, here * found.height / HALF))
    z = np.abs(found.z) / at.taught
    seen, high = int(np.argmax(z)), int(np.argmax(excess))
    passed = bool(excess[high] < 1 and not ((z > Z_ALONE) & (upper > HARMLESS)).any())
    said = f"a spurious signal of {signal[seen]:+.1f} +- {error[seen]:.1f} errors at {found.place(seen, name)}"
    if math.isnan(found.width[seen]):
        said += f", {cut.wanted}; take order {found.at[seen]:.0f} if your fit absorbs it, or a narrower range of mass"
    else:
        said += f", {100 * found.signal[seen] * found.height[seen]:+.0f} % of the background, {cut.wanted}"
    hides = f"{upper[high]:.1f} errors of a search with {rounded(at.search)} events"
    growth = _growth(abs(signal[high]), found.size[high], at.taught, limit)
    if upper[high] < limit:
        hides = f"a bump of {100 * here[high] * found.height[high]:.0f} % of the background"
        growth = _growth(abs(found.signal[high]) * found.height[high], found.height[high], at.taught, HALF)
    hides += f" could hide at {found.place(high, name)}"
    tests.append(Test(said, p_of(z[seen]), len(z), passed, f"{hides}, {cut.wanted}", growth))
    if cut.upper >= upper.max():  # another variable decides
        return cut, tests
    k = seen if z[seen] > Z_ALONE else high
    gauss = ~np.isnan(found.width)
    wide = found.at[found.width == found.width[gauss].max(initial=0)]
    return replace(
        cut, at=found.place(k, name), mass=float(found.at[k]) if gauss[k] else math.nan, width=float(found.width[k]),
        spurious_signal=float(signal[k]), spurious_error=float(error[k]), upper=float(upper.max()),
        low=float(min(wide, default=math.nan)), high=float(max(wide, default=math.nan)),
        height=float(found.signal[k] * found.height[k]), height_error=float(found.height[k] * at.taught),
        scan=np.column_stack([found.at, found.width, signal, error])[gauss],
    ), tests  # fmt: skip


def _growth(signal: float, error: float, taught: float, limit: float) -> float:
    """How many times as many events make the upper end fall below the limit, or the signal significant."""
    allowed = max((signal / Z_ALONE) ** 2, (max(limit - signal, 0) / SIGMAS) ** 2)
    rest = allowed / error**2 - (taught**2 - 1)
    return max(1 / rest, 1.1) if rest > 0 else math.inf


def unknown(why: str, growth: float = math.inf) -> Test:
    """The test of a sample that cannot be tested."""
    return Test("", 1.0, 0, False, why, growth)


def of_bound(said: str, above: float, at: Context) -> Test:
    """The test of a bound that is exceeded by this number of standard deviations."""
    z = max(above, 0.0) / at.taught
    return Test(said, p_of(z), 1, z < SIGMAS, said, max((Z_ALONE / max(z, 0.1)) ** 2, 1.1))


def of_all_cuts(p: float, of_search: float) -> list[Test]:
    """The test of the response at all cuts, from its p-value here and the one in the search."""
    if math.isnan(p):
        return []
    growth = max(math.log(ALONE) / min(math.log(max(p, 1e-300)), -1e-3), 1.1)
    hides = "a dependence of the response over all cuts could hide"
    return [Test("the response over all cuts depends on the mass", p, 1, of_search >= ALONE, hides, growth)]


def verdict(tests: Sequence[Test], number: int) -> tuple[bool | None, float, Test | None]:
    """``flat``, the global p-value of this ``number`` of tests in all, and the test that decides."""
    number = max(number, FEWEST_TESTS)
    p = min(1.0, number * min(test.p for test in tests)) if any(test.number for test in tests) else math.nan
    failed = [test for test in tests if not test.passed]
    if not failed:
        return True, p, None
    seen = [test for test in failed if test.p * number < NOT_FLAT]
    if seen:  # a test that has a mass to name comes first
        return False, p, min(seen, key=lambda test: (test.number == 1, test.p))
    return None, p, max(failed, key=lambda test: (test.number == 0, test.growth))


def sentence(flat: bool | None, decides: Test | None, p: str, cuts: Sequence[AtCut], at: Context) -> str:
    """The verdict on cuts in words."""
    order, training = at.settings.order, at.settings.training_events
    if decides is None:
        low, high = max(cut.low for cut in cuts), min(cut.high for cut in cuts)
        where = f" at mass {low:.4g} to {high:.4g}" if low < high else ""
        most = f"above {max(cut.upper for cut in cuts):.1f} errors of a search with {rounded(at.search)} events"
        return f"flat at order {order} (global p {p}): no spurious signal {most}{where}"
    if flat is False:
        return f"not flat at order {order} (global p {p}): {decides.said}"
    if math.isinf(decides.growth):
        tells = "; no number of them would tell, but a larger training" if training and decides.number else ""
    else:
        needed = rounded(decides.growth * at.events)
        tells = f"; {needed} background events before the cut would tell, of which it has {at.events:,.0f}"
    return f"not known at order {order}: {decides.hides}{tells}"
