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


@pytest.mark.parametrize("name", fork_scenarios.SCENARIOS)
def test_fork(name, tmp_path):
    temporary, output = tmp_path / "tmp", tmp_path / "output"
    temporary.mkdir()
    with output.open("w") as file:
        process = subprocess.Popen(
            [sys.executable, fork_scenarios.__file__, name],
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
