"""Prints the packages of extras of pyproject.toml, or of build-system: python extras.py NAME..."""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

try:
    import tomllib
except ModuleNotFoundError:  # Python 3.10
    from pip._vendor import tomli as tomllib

with open(Path(__file__).resolve().parents[1] / "pyproject.toml", "rb") as file:
    PROJECT = tomllib.load(file)
EXTRAS = PROJECT["project"]["optional-dependencies"] | {"build-system": PROJECT["build-system"]["requires"]}


def packages(extra: str) -> Iterator[str]:
    """The packages of an extra, with the extras that it names."""
    for text in EXTRAS[extra]:
        others = re.fullmatch(r"libmode\[(.*)\]", text)
        if others:
            for other in others[1].split(","):
                yield from packages(other)
        else:
            yield text


if __name__ == "__main__":
    for extra in sys.argv[1:]:
        print(*packages(extra), sep="\n")
