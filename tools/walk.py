"""Counts the functions of libmode in Python that a call goes through, and their files: ``python tools/walk.py``.

The counts are those of the fifteenth call, on the way to the core and back, of batches at which no monitor looks.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import libmode

FOLDER = str(Path(libmode.__file__).parent)


def entered(call: Callable[[], Any]) -> list[tuple[str, str]]:
    """The file and the name of each function that a call enters, in their order."""
    calls: list[tuple[str, str]] = []

    def note(frame: Any, event: str, _: Any) -> None:
        file = frame.f_code.co_filename
        if event == "call" and file.startswith(FOLDER):
            calls.append((file[len(FOLDER) + 1 :], frame.f_code.co_qualname))

    sys.setprofile(note)
    try:
        call()
    finally:
        sys.setprofile(None)
    return calls


def walk(call: Callable[[], Any]) -> tuple[int, int, list[str]]:
    """Returns how many functions a call enters, in how many files, and their names."""
    for _ in range(14):
        call()
    calls = entered(call)
    return len(calls), len({file for file, _ in calls}), [f"{file}:{name}" for file, name in calls]


def main() -> None:
    """Prints a line for each call, and with -v the functions."""
    import torch
    from libmode.torch import MoDeConstraint, MoDeLoss

    torch.manual_seed(1)
    score, mass = torch.rand(1_000).requires_grad_(), torch.rand(1_000)
    label = torch.randint(0, 2, (1_000,)).float()
    for module in (MoDeLoss(order=1), MoDeLoss(order=1, strength=30), MoDeConstraint(order=1)):

        def call(module: Any = module) -> Any:
            return module(score, label, mass)

        count, files, names = walk(call)
        print(f"{module}: {count} calls in {files} files")
        if "-v" in sys.argv:
            print("\n".join(f"  {name}" for name in names))


if __name__ == "__main__":
    main()
