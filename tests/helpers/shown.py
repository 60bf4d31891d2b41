"""What a page shows of a program's output, beside what the program prints."""

import re

import pytest

_NUMBER = re.compile(r"-?\d+\.\d+")
_BLOCK = re.compile(r"```text\n(.*?)```", re.DOTALL)


def shown_blocks(page):
    """The blocks of output of a page."""
    return _BLOCK.findall(page)


def shown_after(page, block):
    """The block of output that follows a block of code, or None."""
    after = page[page.index(block) + len(block) :]
    found = _BLOCK.match(after.removeprefix("```").lstrip("\n"))
    return found and found[1]


def assert_alike(printed, shown, digits=5):
    """The words are the same; numbers may differ by a tenth, or by so much in their last digit.

    A training rounds differently on each processor.
    """
    assert _NUMBER.sub("#", printed).split() == _NUMBER.sub("#", shown).split()
    for number, expected in zip(_NUMBER.findall(printed), _NUMBER.findall(shown), strict=True):
        last = digits * 10.0 ** -len(expected.partition(".")[2])
        assert float(number) == pytest.approx(float(expected), rel=0.1, abs=last), printed
