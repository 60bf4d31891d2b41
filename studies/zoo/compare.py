"""Compares methods by one rule: flat is at most 1.2 times the scale at 80, 50 and 20 % of the signal."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from .judge import BACKGROUND, SIGNAL

CUTS = (*SIGNAL, *BACKGROUND)
COMPARED = ("80 %", "50 %", "20 %")  # the cuts that each training has
FLAT = 1.2  # the largest residual over its scale that counts as flat, for every method and each of these cuts
USELESS = 0.03  # of AUC below the layer's: a scan goes no further
SCANNED = ("MoDeLoss", "DisCo")  # the rivals, at a scan of strengths
VARIANTS = ("", "planed", "warm")  # of each
Found = dict[str, Any]


def of_method(results: Mapping[str, Any], problem: str) -> dict[str, list[Found]]:
    """The trainings of a problem by method, in the order of the study."""
    found: dict[str, list[Found]] = {}
    for key, result in results.items():
        name, method, _ = key.split("; ")
        if name == problem:
            found.setdefault(method, []).append(result)
    return found


def medians(trainings: Iterable[Found]) -> Found:
    """Medians over seeds of AUC, R50 and, by cut, of the ratio."""
    trainings = list(trainings)
    ratios = {cut: [one["cuts"][cut]["ratio"] for one in trainings if cut in one["cuts"]] for cut in CUTS}
    return {
        "auc": float(np.median([one["auc"] for one in trainings])),
        "r50": float(np.median([one["r50"] for one in trainings])),
        "ratio": {cut: float(np.median(found)) for cut, found in ratios.items() if found},
    }


def size(one: Found) -> float:
    """The root mean square of the ratios at three working points."""
    return float(np.sqrt(np.mean([one["ratio"].get(cut, np.nan) ** 2 for cut in COMPARED])))


def worst(one: Found) -> float:
    """The largest ratio at three working points."""
    return float(max(one["ratio"].get(cut, 0) for cut in COMPARED))


def ends(one: Found, found: Mapping[str, list[Found]]) -> bool:
    """Does this training of a rival end its scan, since it is flat or useless?"""
    layer = medians(found["default"])["auc"] if "default" in found else 0.0
    return worst(medians([one])) <= FLAT or one["auc"] < layer - USELESS


def of_kind(found: Mapping[str, list[Found]], kind: str) -> dict[str, Found]:
    """The trainings with a rival at each of its strengths, in all of its variants."""
    split = {name: name.partition(", ") for name in found}
    names = [name for name, (one, _, variant) in split.items() if one.split()[0] == kind and variant in VARIANTS]
    return {name: medians(found[name]) for name in names}


def best(found: Mapping[str, list[Found]], kind: str) -> tuple[str, Found] | None:
    """The flat training with the largest AUC; None if there is none."""
    flat = {name: one for name, one in of_kind(found, kind).items() if worst(one) <= FLAT}
    return max(flat.items(), key=lambda pair: pair[1]["auc"]) if flat else None


def flattest(found: Mapping[str, list[Found]], kind: str) -> tuple[str, Found] | None:
    """The training with the smallest of largest ratios; None if there is none."""
    return min(of_kind(found, kind).items(), key=lambda pair: worst(pair[1]), default=None)


def winner(found: Mapping[str, list[Found]]) -> str:
    """The flat method with the largest AUC: the layer and planing have one setting, rivals any, which is named."""
    flat = dict(one for kind in SCANNED if (one := best(found, kind)))
    for method, name in (("default", "the layer"), ("none, planed", "planing")):
        if method in found and worst(of_one := medians(found[method])) <= FLAT:
            flat[name] = of_one
    return max(flat, key=lambda name: flat[name]["auc"]) if flat else "none"
