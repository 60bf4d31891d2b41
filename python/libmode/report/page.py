"""The page: one HTML file that loads nothing."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from jinja2 import Environment, StrictUndefined

from . import words
from .figures import Picture

TEMPLATE = Path(__file__).with_name("page.html")


def page(numbers: dict[str, Any], pictures: Sequence[Picture]) -> str:
    """The HTML of the contents of report.json. Names of files and expressions are escaped."""
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    environment.filters |= {name: getattr(words, name) for name in ("short", "percent", "efficiency", "signal_of")}
    environment.filters |= {"p": words.p_value, "count": "{:,}".format}
    return environment.from_string(TEMPLATE.read_text(encoding="utf-8")).render(
        report=numbers,
        labeled=numbers["label"] is not None,
        pictures=[(title, caption, base64.b64encode(svg).decode()) for title, caption, svg in pictures],
        made=datetime.now(timezone.utc).strftime("%Y-%m-%d %H:%M UTC"),
        hint=words.HINT,
        clear=words.CLEAR,
    )
