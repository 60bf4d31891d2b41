"""Each public function of C has its comment in mode.h, and is called by the tests of C or C++ or an example."""

import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "docs"))

from c_header import blocks, functions  # noqa: E402

# What the library exports, from the compiled one: tests/c/check_abi.py.
NAMES = re.findall(r"^(mode_\w+): .*\(", (ROOT / "tests" / "c" / "abi.txt").read_text(), re.MULTILINE)
CALLERS = ("tests/c/*.c", "tests/cpp/*.cpp", "examples/**/*.[cC]", "examples/*.cpp")


def code(text):
    """The source without its comments and texts, in which names are only spoken of."""
    return re.sub(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"', " ", text, flags=re.DOTALL)


def words_about(name):
    """The comment of the header above the declaration of a function, its sections' titles apart."""
    header = (ROOT / "include" / "mode.h").read_text()
    (found,) = [block.comment for block in blocks(header) if any(f"{name}(" in own for own in functions(block.code))]
    return "" if re.fullmatch(r"-{3,} *.+", found) else found


@pytest.mark.parametrize("name", NAMES)
def test_a_function_has_words_and_is_called(name):
    assert len(words_about(name).split()) > 5
    callers = (path for pattern in CALLERS for path in ROOT.glob(pattern))
    assert any(re.search(rf"\b{name}\(", code(path.read_text())) for path in callers)
