"""The command ``libmode``, also ``python -m libmode``: see :mod:`libmode.report.cli`."""

from __future__ import annotations

import sys
from importlib.util import find_spec

NEEDED = ("click", "h5py", "iminuit", "jinja2", "matplotlib", "mplhep", "pyarrow", "scipy", "uproot")


def main() -> None:
    """Runs the command line. Without the packages of the extra ``report`` it prints a sentence and returns 2."""
    missing = [name for name in NEEDED if find_spec(name) is None]
    if missing:
        are = "is" if len(missing) == 1 else "are"
        print(
            f"libmode report needs {', '.join(missing)}, which {are} not installed: pip install 'libmode[report]'",
            file=sys.stderr,
        )
        sys.exit(2)
    from .report.cli import main as run

    run(prog_name="libmode")


if __name__ == "__main__":
    main()
