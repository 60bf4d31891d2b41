"""The studies' runner: what is interrupted goes on."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from studies import runner
from studies.runner import Piece


def double(x):
    if x == 13:
        raise ValueError("unlucky")
    return {"value": 2 * x, "at": time.time()}


def pieces(*numbers, version=1):
    return [Piece(f"piece {x}", {"x": x, "version": version}, x, 0.1) for x in numbers]


def test_finished_pieces_are_not_done_again(tmp_path, capsys):
    first = runner.run(pieces(1, 2), double, tmp_path, processes=2)
    assert [first[f"piece {x}"]["value"] for x in (1, 2)] == [2, 4]
    second = runner.run(pieces(1, 2, 3), double, tmp_path, processes=1)
    assert second.pop("piece 3")["value"] == 6
    assert second == first
    assert "1 of 3 pieces to do" in capsys.readouterr().out


def test_a_piece_with_another_setting_is_done_again(tmp_path):
    first = runner.run(pieces(1), double, tmp_path, processes=1)
    second = runner.run(pieces(1, version=2), double, tmp_path, processes=1)
    assert second["piece 1"]["at"] > first["piece 1"]["at"]


def test_what_was_finished_before_a_failure_is_kept(tmp_path):
    runner.run(pieces(1), double, tmp_path, processes=1)
    with pytest.raises(ValueError, match="unlucky"):
        runner.run(pieces(1, 13), double, tmp_path, processes=1)
    assert [path.name for path in tmp_path.iterdir()] == ["piece 1.json"]


ENDED = """
import os, sys, time
from pathlib import Path
from studies.runner import Piece, run

def sleep(path):
    Path(path).write_text(str(os.getpid()))
    os.rename(path, path + ".begun")
    time.sleep(600)

if __name__ == "__main__":
    here = Path(sys.argv[1])
    run([Piece("piece", {}, str(here / "pid"), 600)], sleep, here / "results", processes=1)
"""


def test_the_end_of_a_job_leaves_no_process_behind(tmp_path):
    program, begun = tmp_path / "study.py", tmp_path / "pid.begun"
    program.write_text(ENDED)
    study = subprocess.Popen([sys.executable, program, tmp_path], env={**os.environ, "PYTHONPATH": str(Path.cwd())})
    try:
        wait_until(begun.exists)
        study.terminate()
        study.wait(60)
    finally:
        study.kill()
    worker = Path("/proc", begun.read_text())
    wait_until(lambda: not worker.exists())


def wait_until(condition, seconds=60):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "nothing happened"
        time.sleep(0.05)
