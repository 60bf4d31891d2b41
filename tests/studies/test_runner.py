"""The studies' runner: what is interrupted goes on."""

import time

import pytest

from studies import runner
from studies.runner import Piece


def double(x):
    if x == 13:
        raise ValueError("unlucky")
    return {"value": 2 * x, "at": time.time()}


def pieces(*numbers, version=1):
    return [Piece(f"piece {x}", {"x": x, "version": version}, x, 0.1) for x in numbers]


def test_pieces_are_done_again_with_another_setting_alone(tmp_path):
    first = runner.run(pieces(1, 2), double, tmp_path, processes=2)
    assert [first[f"piece {x}"]["value"] for x in (1, 2)] == [2, 4]
    with pytest.raises(ValueError, match="unlucky"):  # what was finished before a failure is kept
        runner.run(pieces(1, 13), double, tmp_path, processes=1)
    second = runner.run(pieces(1, 2, 3), double, tmp_path, processes=1)
    assert second.pop("piece 3")["value"] == 6 and second == first
    third = runner.run(pieces(1, version=2), double, tmp_path, processes=1)
    assert third["piece 1"]["at"] > first["piece 1"]["at"]
