"""What the tests of several files install."""

import os

import libmode
import pytest
from places import ROOT
from programs import run

MACHINE = os.uname().machine


@pytest.fixture(scope="session")
def wheel():
    """The wheel for this machine."""
    run(ROOT / "build.sh", "wheel", f"linux-{MACHINE}")  # which has auditwheel check it
    tag = f"py3-none-manylinux2014_{MACHINE}.manylinux_2_17_{MACHINE}"
    return ROOT / "dist" / f"libmode-{libmode.__version__}-{tag}.whl"
