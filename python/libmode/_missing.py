"""What to say where an optional package is not installed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def needed(package: str, by: str, extra: str) -> Iterator[None]:
    """Around imports: turns "No module named package" into an ImportError with the command that installs it."""
    try:
        yield
    except ModuleNotFoundError as error:
        if error.name != package:  # it is there, and lacks something itself
            raise
        raise ImportError(
            f"{by} needs {package}, which is not installed: pip install 'libmode[{extra}]'", name=package
        ) from None
