"""After a fork the library works again or says why not; it never hangs.

Each scenario of fork_scenarios.py runs in a session of its own, all of which is
killed when its time is over, so that a hang is a failure.
"""

import os
import signal
import subprocess
import sys

import fork_scenarios
import pytest

# Without it tempfile would go on to /tmp and to the current directory.
ONLY_TMPDIR = """if True:
    import os, runpy, sys, tempfile
    tempfile.tempdir = os.environ["TMPDIR"]
    sys.argv = sys.argv[1:]
    sys.path.insert(0, os.path.dirname(sys.argv[0]))
    runpy.run_path(sys.argv[0], run_name="__main__")
"""


@pytest.mark.parametrize("name", fork_scenarios.SCENARIOS)
def test_fork(name, tmp_path):
    (tmp_path / "tmp").mkdir()
    run(name, tmp_path / "tmp", tmp_path / "output")


@pytest.mark.parametrize("name", ["child_after_use", "grandchildren", "multiprocessing_pool"])
def test_fork_without_a_place_for_temporary_files(name, tmp_path):
    (tmp_path / "file").write_text("no directory")
    run(name, tmp_path / "file" / "missing", tmp_path / "output")


def run(name, temporary, output):
    """Runs a scenario with this TMPDIR, which alone is looked at for temporary files."""
    with output.open("w") as file:
        process = subprocess.Popen(
            [sys.executable, "-c", ONLY_TMPDIR, fork_scenarios.__file__, name],
            stdout=file, stderr=file, start_new_session=True, env=os.environ | {"TMPDIR": str(temporary)},
        )  # fmt: skip
        try:
            status = process.wait(fork_scenarios.LIMIT + 10)
        except subprocess.TimeoutExpired:
            status = "time is over"
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
    assert status == 0, f"{status}: {output.read_text()}"
