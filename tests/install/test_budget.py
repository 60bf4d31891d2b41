"""The lines of the tree and of each ring of python/libmode, and its public names: tools/budget.toml."""

import ast
import re

try:
    import tomllib
except ModuleNotFoundError:  # Python 3.10
    from pip._vendor import tomli as tomllib

import pytest
from places import ROOT

BUDGET = tomllib.loads((ROOT / "tools" / "budget.toml").read_text())
NAMES, WHOLE = BUDGET.pop("names"), BUDGET.pop("whole")
RINGS = {f"{ring}.{name}": part for ring, parts in BUDGET.items() for name, part in parts.items()}
PACKAGE = ROOT / "python" / "libmode"


def assert_within(most, what, paths):
    lines = sum(len(path.read_text(encoding="utf-8").splitlines()) for path in paths)
    assert 0 < lines <= most, f"{what} has {lines} lines, and tools/budget.toml allows {most}: what do they buy?"


@pytest.mark.parametrize("pattern", WHOLE)
def test_the_tree_has_at_most_the_lines_of_its_budget(pattern):
    assert_within(WHOLE[pattern], pattern, [path for path in ROOT.glob(pattern) if not path.name.endswith("_test.go")])


@pytest.mark.parametrize("ring", RINGS)
def test_a_ring_has_at_most_the_lines_of_its_budget(ring):
    """The longest name wins: torch/_device.py is of the device, and the rest of torch is not."""
    own = []
    for path in PACKAGE.rglob("*.py"):
        name = f"{path.relative_to(PACKAGE).as_posix()}/"
        rings = [(len(one), key) for key, part in RINGS.items() for one in part["of"] if name.startswith(f"{one}/")]
        assert rings, f"{name} has no ring in tools/budget.toml"
        own += [path] if max(rings)[1] == ring else []
    assert_within(RINGS[ring]["lines"], ring, own)


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
