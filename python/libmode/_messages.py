"""The common parts of errors and warnings: how to show a value, whose line to name, which package is missing."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from difflib import get_close_matches

NO_SECOND_DERIVATIVE = (
    "this loss or constraint has no second derivative: MoDe and flatness are piecewise linear in the scores, and for "
    "DisCo and for a push none is computed. Leave it out of what is differentiated twice (create_graph=True, Hessians, "
    "gradient penalties)"
)

#: The error of every function and class with an order that is left out.
ORDER = (
    "order is missing: it says which dependence of the background efficiency on the mass costs nothing, 0 none at all, "
    "1 a straight line, 2 a parabola. Give the highest order that the background estimate of your analysis absorbs"
)

#: Advice of the core in the words of C and Go, and in the words of Python.
_IN_PYTHON = {
    "or set it to [-Inf, +Inf]": "or use score_range=None",
    "or set missing = ignore and give NaN": 'or give missing="ignore" and NaN',
}

_LONGEST = 200  # characters; of a longer value both ends are shown


def in_python(message: str) -> str:
    """A message of the core with its advice in Python's words."""
    for in_c, advice in _IN_PYTHON.items():
        message = message.replace(in_c, advice)
    return message


def in_keras(error: ValueError) -> ValueError:
    """An error of the core about raw outputs, with the advice for Keras's MoDeLoss."""
    advice = "raw outputs: give score=keras.ops.sigmoid, and from_logits=True to base"
    sentence = str(error).replace("raw outputs, or use score_range=None", advice)
    return type(error)(sentence)


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


def refuse_unknown(function: str, unknown: Iterable[str], names: Iterable[str]) -> None:
    """Raises TypeError for the first unknown keyword of a function that takes only ``names``."""
    for name in unknown:
        meant = near(name, names, 0.6)  # weight and weights for sample_weight
        raise TypeError(f"{function}: unknown argument {name!r}" + (f": did you mean {meant}?" if meant else ""))


_LIBRARIES = ("libmode", "torch", "keras", "jax", "tensorflow", "lightning", "pytorch_lightning", "sklearn")


def level_of_the_user() -> int:
    """The stacklevel with which a warning of the caller names the user's line, not libmode's or a framework's."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back and frame.f_globals.get("__name__", "").partition(".")[0] in _LIBRARIES:
        level, frame = level + 1, frame.f_back
    return level


def line_of_the_user() -> tuple[str, int]:
    """The file and the line of the user who calls; of a thread of a framework the package itself."""
    frame = sys._getframe(level_of_the_user() - 1)
    known = frame.f_back is not None or frame.f_globals.get("__name__") == "__main__"
    return (frame.f_code.co_filename, frame.f_lineno) if known else ("libmode", 0)


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


def keywords_only(owner: object, positional: Sequence[object], example: str) -> None:
    """Raises TypeError for positional arguments of a module."""
    if positional:
        name = type(owner).__name__
        raise TypeError(
            f"{name}({', '.join(map(repr, positional))}): the arguments of {name} are given by name, "
            f"for instance {name}({example})"
        )
