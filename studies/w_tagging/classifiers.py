"""The classifiers of the study: methods, each with a scan of strengths."""

from __future__ import annotations

from typing import Any

from ..methods import PLAIN, Classifier

# GeV. Less than one QCD jet in a hundred is heavier. With them the last quantile bin would reach to 300 GeV, and its
# middle would lie far above its jets: a response linear in the mass of the jets would not be linear in the middles of
# the bins.
RANGE = (50.0, 200.0)


def scan(name: str, method: str, strengths: tuple[float, ...], **options: Any) -> tuple[Classifier, ...]:
    """A method at each of these strengths."""
    return tuple(Classifier(name, method, strength, options) for strength in strengths)


def mode(order: int, strengths: tuple[float, ...], name: str | None = None, **options: Any) -> tuple[Classifier, ...]:
    """MoDe in 32 bins of equal numbers of background jets, in RANGE."""
    return scan(name or f"MoDe[{order}]", "mode", strengths, order=order, mass_range=RANGE, **options)


# Each scan goes from sculpted masses to a weak classification, in finer steps where sculpting ends.
STRENGTHS = {
    "flatness": (30, 70, 100, 150, 300),
    "DisCo": (10, 20, 30, 40, 60, 100, 300),
    "adversary": (0.5, 1, 1.5, 2, 3, 10, 30),
    "MoDe[0]": (50, 70, 100, 150, 200, 300, 1000),
    "MoDe[1]": (50, 70, 100, 150, 200, 300, 1000),
    "MoDe[2]": (50, 70, 100, 150, 200, 300, 1000),
    "MoDe[2] monotonic": (50, 70, 100, 150, 200, 300, 1000),
}
METHODS: dict[str, tuple[Classifier, ...]] = {
    "unconstrained": (Classifier("unconstrained"),),
    "planing": (Classifier("planing", "planing"),),
    "flatness": scan("flatness", "flatness", STRENGTHS["flatness"], mass_range=RANGE),
    "DisCo": scan("DisCo", "disco", STRENGTHS["DisCo"], unbiased=True),
    "adversary": scan("adversary", "adversary", STRENGTHS["adversary"], mass_range=RANGE),
    "MoDe[0]": mode(0, STRENGTHS["MoDe[0]"]),
    "MoDe[1]": mode(1, STRENGTHS["MoDe[1]"]),
    "MoDe[2]": mode(2, STRENGTHS["MoDe[2]"]),
    "MoDe[2] monotonic": mode(2, STRENGTHS["MoDe[2] monotonic"], "MoDe[2] monotonic", monotonic=True),
}

# The paper's formula in batches as large as the paper's, to compare with the default at the same strength.
PAPER_STRENGTH = 300
PAPER_FRACTION = 0.15
PAPER_RECIPE = tuple(mode(order, (PAPER_STRENGTH,), f"MoDe[{order}] of the paper", **PLAIN)[0] for order in range(3))
