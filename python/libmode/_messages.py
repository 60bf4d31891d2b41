"""The common parts of errors and warnings: how to show a value, whose line to name, which package is missing."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from difflib import get_close_matches
from typing import Any, NamedTuple

NO_SECOND_DERIVATIVE = (
    "this loss or constraint has no second derivative: MoDe is piecewise linear in the scores, and for "
    "DisCo and for a push none is computed. Leave it out of losses that you differentiate twice (create_graph=True, "
    "Hessians, gradient penalties)"
)

#: The error of every function and class with an order that is left out.
ORDER = (
    "order is missing: it says which dependence of the background efficiency on the mass costs nothing, 0 none at all, "
    "1 a straight line, 2 a parabola. Give the highest order that the background estimate of your analysis absorbs"
)

#: MODE_ADVICE_... of mode.h, and what it is in Python.
WIDEN, SIGMOID, LEAVE_OUT = 1, 2, 3
_ADVICE = {
    WIDEN: "widen it, or use score_range=None",
    SIGMOID: "apply a sigmoid to raw outputs, or use score_range=None",
    LEAVE_OUT: 'leave such events out, or give missing="ignore" and NaN for a missing mass',
}

_LONGEST = 200  # characters; of a longer value both ends are shown


class Fault(NamedTuple):
    """The parts of the sentence of an error: what comes before the name of an argument, its name, and so on."""

    argument: str
    place: Any  #: the index of the event, a tuple in an array of several dimensions, or None
    after: str
    before: str = ""
    advice: int = 0  #: the last part of the sentence

    def error(self, kind: type[Exception] = ValueError, advice: Mapping[int, str] = _ADVICE) -> Any:
        """The error, which keeps its parts for :func:`reworded`."""
        index = self.place if isinstance(self.place, tuple) else (self.place,)
        place = "" if self.place is None else f"[{', '.join(map(str, index))}]"
        error: Any = kind(f"{self.before}{self.argument}{place}{self.after}{advice.get(self.advice, '')}")
        error.fault = self
        return error


def reworded(error: Exception, advice: Mapping[int, str] | None = None, **parts: Any) -> Exception:
    """An error with other parts, or with advice in other words; the same error if its parts are unknown."""
    fault: Fault | None = getattr(error, "fault", None)
    return error if fault is None else fault._replace(**parts).error(type(error), {**_ADVICE, **(advice or {})})


def shown(value: object) -> str:
    """``repr(value)`` on one line of at most some 200 characters, or its type if repr fails, as for huge integers."""
    try:
        text = " ".join(repr(value).split()) if not isinstance(value, str) else repr(value)
    except Exception:
        return f"<{type(value).__name__}>"
    if len(text) <= _LONGEST:
        return text
    return f"{text[: _LONGEST // 2]} ... {text[-_LONGEST // 4 :]}"


def near(name: str, names: Iterable[str], least: float = 0.75) -> str | None:
    """The one of ``names`` closest to ``name``, a likely typing error; None if none is close."""
    return next(iter(get_close_matches(name, sorted(names), 1, least)), None)


_FRAMEWORKS = ("", "libmode", "torch", "keras", "jax", "tensorflow", "lightning", "pytorch_lightning", "sklearn")
_LIBRARIES = (*_FRAMEWORKS, "xgboost", "lightgbm")


def level_of_the_user() -> int:
    """The stacklevel by which a warning names the user's line, none of a library or a traced program."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back and frame.f_globals.get("__name__", "").partition(".")[0] in _LIBRARIES:
        level, frame = level + 1, frame.f_back
    return level


@contextmanager
def needed(package: str, by: str, extra: str) -> Iterator[None]:
    """Around imports: turns "No module named package" into an ImportError with the command that installs it."""
    try:
        yield
    except ModuleNotFoundError as error:
        if error.name != package:  # it is installed, and another package is missing
            raise
        raise ImportError(
            f"{by} needs {package}, which is not installed: pip install 'libmode[{extra}]'", name=package
        ) from None
