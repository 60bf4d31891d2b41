"""The lines of python/libmode, by ring: tools/budget.toml; and its public names."""

import ast
import re

try:
    import tomllib
except ModuleNotFoundError:  # Python 3.10
    from pip._vendor import tomli as tomllib

import pytest
from places import ROOT

BUDGET = tomllib.loads((ROOT / "tools" / "budget.toml").read_text())
RINGS = {f"{ring}.{name}": part for ring, parts in BUDGET.items() for name, part in parts.items()}
PACKAGE = ROOT / "python" / "libmode"
NAMES = 36


def files():
    """The files of each ring. The longest name wins: torch/_device.py is of the device, and the rest of torch is not."""
    of_ring = {ring: [] for ring in RINGS}
    for path in sorted(PACKAGE.rglob("*.py")):
        own = path.relative_to(PACKAGE).as_posix()
        names = [
            (len(name), ring) for ring, part in RINGS.items() for name in part["of"] if f"{own}/".startswith(f"{name}/")
        ]
        assert names, f"{own} has no ring in tools/budget.toml"
        of_ring[max(names)[1]].append(path)
    return of_ring


@pytest.mark.parametrize("ring", RINGS)
def test_a_ring_has_at_most_the_lines_of_its_budget(ring):
    lines = sum(len(path.read_text(encoding="utf-8").splitlines()) for path in files()[ring])
    most = RINGS[ring]["lines"]
    assert 0 < lines <= most, f"{ring} has {lines} lines, and tools/budget.toml allows {most}: what do they buy?"


def test_public_names():
    names = [
        f"{path.parent.name}.{name}"
        for path in PACKAGE.rglob("*.py")
        if not re.search(r"/_(?!_init__\.py$)", f"/{path.relative_to(PACKAGE).as_posix()}")
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__"
        for name in ast.literal_eval(node.value)
    ]
    assert 0 < len(names) <= NAMES, f"{len(names)} public names: which one would nobody miss? {names}"
