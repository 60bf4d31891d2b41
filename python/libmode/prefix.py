"""Tells C, C++ and ROOT where the headers and the library of this installation are.

Also the command ``libmode-config``::

    cc program.c $(libmode-config --cflags --libs)
    cmake -D CMAKE_PREFIX_PATH=$(libmode-config --prefix) .
"""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Sequence
from pathlib import Path

from . import __version__

PREFIX = Path(__file__).resolve().parent


def cflags() -> str:
    """What a C or C++ compiler needs to find the headers."""
    return shlex.quote(f"-I{PREFIX / 'include'}")


def libs() -> str:
    """What a linker needs to find the library, now and when the program runs."""
    lib = PREFIX / "lib"
    return shlex.join([f"-L{lib}", "-lmode", f"-Wl,-rpath,{lib}"])


def main(arguments: Sequence[str] | None = None) -> None:
    """Prints what the options ask for, in their order on one line."""
    parser = argparse.ArgumentParser(
        prog="libmode-config", description="Prints where libmode is, for compilers and for ROOT."
    )
    for option, text, meaning in (
        ("--cflags", cflags(), "what the compiler needs to find mode.h and mode.hpp"),
        ("--libs", libs(), "what the linker needs"),
        ("--prefix", str(PREFIX), "the directory of include/, lib/, lib/pkgconfig/ and lib/cmake/"),
        ("--version", __version__, "the version of libmode"),
    ):
        parser.add_argument(option, dest="wanted", action="append_const", const=text, help=meaning)
    wanted: list[str] | None = parser.parse_args(arguments).wanted
    if not wanted:
        parser.error("say what to print: --cflags, --libs, --prefix or --version")
    print(*wanted)


if __name__ == "__main__":
    main()
