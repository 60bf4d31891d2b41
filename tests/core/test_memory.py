"""Many calls do not make the process grow."""

import sys

import soak
from programs import run


@pytest.mark.full
def test_ten_thousand_calls_of_mixed_sizes_leave_memory_threads_and_files_as_they_were():
    run(sys.executable, soak.__file__, "10000")
