"""The five classifiers of the comparison."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from libmode.torch import MoDeLoss

from .data import simple_model
from .measure import Performance, performance
from .train import evaluate, train

TRAIN_EVENTS = 100_000
TEST_EVENTS = 1_000_000
EPOCHS = 100

# A batch has few events in each bin, and the plain loss of it is above zero even
# where score and mass are independent; so the classifier would be pulled away from
# the response that is asked for. `unbiased` subtracts that, and with projection
# moments a response that is a polynomial of the order asked for costs nothing.
UNBIASED = {"unbiased": True, "moments": "projection"}


@dataclass(frozen=True)
class Classifier:
    """One row of the table.

    order : that of the polynomial in mass which the false positive rate is held
        to by MoDe, and compared with for every classifier
    strength : of the MoDe loss (with reduction mean) beside the cross entropy;
        0 for none
    """

    name: str
    features: list[int]
    order: int = 0
    strength: float = 0.0


AGNOSTIC = "m-agnostic"
CLASSIFIERS = (
    Classifier("unconstrained", [0, 1]),
    Classifier(AGNOSTIC, [0]),
    Classifier("MoDe[0]", [0, 1], order=0, strength=5000),
    Classifier("MoDe[1]", [0, 1], order=1, strength=2000),
    Classifier("MoDe[2]", [0, 1], order=2, strength=2000),
)


def compare(
    *,
    train_events: int = TRAIN_EVENTS,
    test_events: int = TEST_EVENTS,
    epochs: int = EPOCHS,
    seed: int = 1,
    options: dict = UNBIASED,
) -> dict[str, Performance]:
    """Trains every classifier on the same events and measures it on fresh ones.

    options : of the MoDe loss, beside its order

    Returns the performances by name, in the order of CLASSIFIERS.
    """
    train_rng, test_rng = (np.random.default_rng(s) for s in np.random.SeedSequence(seed).spawn(2))
    training = simple_model(train_events, train_rng)
    test = simple_model(test_events, test_rng)

    result = {}
    for c in CLASSIFIERS:
        mode = MoDeLoss(order=c.order, **options) if c.strength else None
        network = train(training, c.features, mode, c.strength, epochs=epochs, seed=seed, name=f"{c.name:13}")
        result[c.name] = performance(evaluate(network, test, c.features), test, c.order)
    return result
