"""Many calls do not make the process grow."""

import sys

import soak
from programs import run


def test_two_thousand_calls_of_mixed_sizes_leave_memory_threads_and_files_as_they_were():
    """./build.sh test-full makes a million."""
    run(sys.executable, soak.__file__, "2000")
