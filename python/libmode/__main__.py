"""The command ``libmode``, also ``python -m libmode``: see :mod:`libmode.report.cli`."""

from __future__ import annotations

import os
import sys
from importlib.util import find_spec

NEEDED = ("click", "h5py", "jinja2", "matplotlib", "pandas", "pyarrow", "uproot")


def main() -> None:
    """Runs the command line, and ends the program. Without the packages of the extra ``report`` the status is 2."""
    missing = [name for name in NEEDED if find_spec(name) is None]
    if missing:
        are = "is" if len(missing) == 1 else "are"
        print(
            f"libmode report needs {', '.join(missing)}, which {are} not installed: pip install 'libmode[report]'",
            file=sys.stderr,
        )
        sys.exit(2)
    os.environ["MPLBACKEND"] = "agg"  # that of a notebook may not be installed here
    from .report.cli import run

    sys.exit(run())


if __name__ == "__main__":
    main()
