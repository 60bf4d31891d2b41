"""What pytest needs to know of the tests of PyTorch."""

from importlib.util import find_spec

# macOS and Windows have no Triton, whose kernels these are.
collect_ignore = [] if find_spec("triton") else ["test_on_device.py"]
