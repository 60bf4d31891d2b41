"""The page: one HTML file that loads nothing."""

from __future__ import annotations

import base64
import re
from collections.abc import Sequence
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from jinja2 import Environment, StrictUndefined

from .figures import Picture
from .numbers import count, efficiency, p_value, percent, short, signal_of
from .verdict import CLEAR, HINT

TEMPLATE = Path(__file__).with_name("page.html")


def unbroken(text: str) -> str:
    """With spaces that end no line beside signs."""
    return re.sub(r" (?=[%=<≥±])|(?<=[=<≥±]) ", "\u00a0", text)


def page(numbers: dict[str, Any], pictures: Sequence[Picture]) -> str:
    """The HTML of what :func:`libmode.report.contents.contents` returns.

    Everything that comes from outside, names of files and expressions, is escaped.
    """
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    environment.filters |= {
        "short": short,
        "percent": percent,
        "efficiency": efficiency,
        "unbroken": unbroken,
        "p": p_value,
        "count": count,
        "signal_of": lambda quoted: signal_of(tuple(quoted.values())),
    }
    return environment.from_string(TEMPLATE.read_text(encoding="utf-8")).render(
        report=numbers,
        labelled=numbers["label"] is not None,
        pictures=[(p.title, p.caption, base64.b64encode(p.svg).decode()) for p in pictures],
        made=datetime.now(timezone.utc).strftime("%Y-%m-%d %H:%M UTC"),
        hint=HINT,
        clear=CLEAR,
    )
