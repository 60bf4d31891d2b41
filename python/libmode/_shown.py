"""How errors show a value or a name that a user gave."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

_LONGEST = 200  # characters; of a longer value both ends are shown


def shown(value: object) -> str:
    """``repr(value)`` on one line, of at most some 200 characters; for what has none, as huge integers, its type."""
    try:
        text = " ".join(repr(value).split()) if not isinstance(value, str) else repr(value)
    except Exception:
        return f"<{type(value).__name__}>"
    if len(text) <= _LONGEST:
        return text
    return f"{text[: _LONGEST // 2]} ... {text[-_LONGEST // 4 :]}"


def near(name: str, names: Iterable[str], least: float = 0.75) -> str | None:
    """The one of ``names`` that a user may have meant by ``name``."""
    return next(iter(get_close_matches(name, sorted(names), 1, least)), None)


def refuse_unknown(function: str, given: Iterable[str], names: Iterable[str]) -> None:
    """Raises TypeError for the first of ``given``, the keywords of a function that takes only ``names``."""
    for name in given:
        meant = near(name, names, 0.6)  # weight and weights for sample_weight
        raise TypeError(f"{function}: unknown argument {name!r}" + (f": did you mean {meant}?" if meant else ""))
