"""Errors that the user can fix."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

import click

MOST_NAMES = 20


class Problem(click.ClickException):
    """One sentence that names the option or the file. The command ends with status 2."""

    exit_code = 2


def known(names: Iterable[str], wanted: str) -> str:
    """At most 20 of the names that exist, beginning with the names most like ``wanted``."""
    there = list(names)
    shown = get_close_matches(wanted, there, n=MOST_NAMES, cutoff=0) or ["none"]
    return ", ".join(shown) + (f" and {len(there) - MOST_NAMES} more" if len(there) > MOST_NAMES else "")
