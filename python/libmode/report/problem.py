"""What the user has to mend."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

MOST_NAMES = 20


class Problem(Exception):
    """One sentence for the user, which names the option or the file. The command ends with status 2."""


def known(names: Iterable[str], wanted: str) -> str:
    """The names that there are, as sentences list them: those that are most like ``wanted`` first, at most 20."""
    there = list(names)
    if not there:
        return "none"
    close = get_close_matches(wanted, there, n=3, cutoff=0.5)
    ordered = close + [name for name in there if name not in close]
    more = f" and {len(ordered) - MOST_NAMES} more" if len(ordered) > MOST_NAMES else ""
    return ", ".join(ordered[:MOST_NAMES]) + more
