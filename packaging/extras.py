"""Prints the packages of extras of pyproject.toml, one a line, or of build-system. Usage: python extras.py NAME..."""

import re
import sys
from collections.abc import Iterator

try:
    import tomllib
except ModuleNotFoundError:  # Python 3.10
    from pip._vendor import tomli as tomllib

with open("pyproject.toml", "rb") as file:
    PROJECT = tomllib.load(file)
EXTRAS = PROJECT["project"]["optional-dependencies"] | {"build-system": PROJECT["build-system"]["requires"]}


def packages(extra: str) -> Iterator[str]:
    """The packages of one extra, and of those that it names."""
    for text in EXTRAS[extra]:
        others = re.fullmatch(r"libmode\[(.*)\]", text)
        if others:
            for other in others[1].split(","):
                yield from packages(other)
        else:
            yield text


for extra in sys.argv[1:]:
    print(*packages(extra), sep="\n")
