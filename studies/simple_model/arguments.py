"""The arguments of the demo, in a module that needs no package: ``--help`` works before any installation."""

from __future__ import annotations

import argparse
from pathlib import Path

TRAIN_EVENTS = 100_000
EPOCHS = 100


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="./build.sh demo",
        description="Trains the paper's simple model, prints its table and writes its figures.",
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    parser.add_argument("--events", type=int, default=TRAIN_EVENTS, help="events to train on")
    parser.add_argument("--epochs", type=int, default=EPOCHS, help="passes over them")
    parser.add_argument("--seed", type=int, default=1, help="of the events, the networks and the batches")
    parser.add_argument("--plain", action="store_true", help="the loss of the paper: not unbiased, quadrature moments")
    parser.add_argument("--output", type=Path, default=Path("demo"), help="directory of the table and the figures")
    return parser.parse_args()


if __name__ == "__main__":
    parse()
