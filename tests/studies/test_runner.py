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


def test_pieces_are_done_again_with_another_setting_alone(tmp_path):
    first = runner.run(pieces(1, 2), double, tmp_path, processes=2)
    assert [first[f"piece {x}"]["value"] for x in (1, 2)] == [2, 4]
    with pytest.raises(ValueError, match="unlucky"):  # what was finished before a failure is kept
        runner.run(pieces(1, 13), double, tmp_path, processes=1)
    second = runner.run(pieces(1, 2, 3), double, tmp_path, processes=1)
    assert second.pop("piece 3")["value"] == 6 and second == first
    third = runner.run(pieces(1, version=2), double, tmp_path, processes=1)
    assert third["piece 1"]["at"] > first["piece 1"]["at"]


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
