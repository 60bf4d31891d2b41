"""Where in the user's code a warning belongs."""

from __future__ import annotations

import sys

_LIBRARIES = ("libmode", "torch", "keras", "jax", "tensorflow", "lightning", "pytorch_lightning", "sklearn")


def level_of_the_user() -> int:
    """The stacklevel, for a warning of the caller, of the first frame that is neither libmode's nor a framework's."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back and frame.f_globals.get("__name__", "").partition(".")[0] in _LIBRARIES:
        level, frame = level + 1, frame.f_back
    return level
