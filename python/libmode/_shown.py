"""How errors show a value that a user gave."""

from __future__ import annotations

_LONGEST = 200  # characters; of a longer value both ends are shown


def shown(value: object) -> str:
    """``repr(value)`` on one line, of at most some 200 characters; for what has none, its type.

    Python writes no integer of more than 4300 digits, and a class may have a ``__repr__`` that fails.
    """
    try:
        text = " ".join(repr(value).split()) if not isinstance(value, str) else repr(value)
    except Exception:
        return f"<{type(value).__name__}>"
    if len(text) <= _LONGEST:
        return text
    return f"{text[: _LONGEST // 2]} ... {text[-_LONGEST // 4 :]}"
