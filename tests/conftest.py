"""What pytest needs to know before it collects: see golden.py and reference.py for the shared parts."""

import os
import sys

os.environ.setdefault("TRITON_INTERPRET", "1")  # before anything imports Triton, whose kernels run on the CPU then

import golden
import hypothesis
import libmode
import pytest

# The same examples on every run: a failure on one machine is a failure on all.
hypothesis.settings.register_profile("reproducible", derandomize=True, deadline=None, database=None)
hypothesis.settings.load_profile("reproducible")


@pytest.fixture(params=golden.CASES + golden.VARIABLES, ids=lambda case: case.name)
def golden_case(request):
    """One of the cases of tests/golden."""
    return request.param


@pytest.fixture(autouse=True)
def forget_what_was_compiled():
    """PyTorch compiles a function for at most eight kinds of arguments, and the tests have more."""
    yield
    if "torch._dynamo" in sys.modules:
        sys.modules["torch"]._dynamo.reset()


@pytest.fixture
def threads():
    """Sets the number of threads, and the default after the test."""
    yield libmode.set_threads
    libmode.set_threads(0)


@pytest.fixture(scope="module")
def interpreter():
    """Kernels of the device run in Triton's interpreter, in less time."""
    import interpreted

    with interpreted.once():
        yield
