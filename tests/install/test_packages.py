"""Commands of build.sh install all that they import: without it a study would fail after hours, when it writes its tables."""

import subprocess
import sys

import pytest
from places import ROOT, of_extras
from programs import run

from tools import install
from tools.studies import STUDIES
from tools.studies import main as studies


@pytest.fixture
def recorded(monkeypatch):
    """What a command would install and run, in place of doing so."""
    found = {"extras": [], "modules": []}

    def called(command, **_):
        if command[0] == sys.executable:
            found["modules"].append(command[2])
        return subprocess.CompletedProcess(command, 0)

    monkeypatch.setattr(install, "extras", lambda *names: found["extras"].extend(names))
    monkeypatch.setattr(install, "packages", lambda *names: None)
    monkeypatch.setattr(install, "modeloss", lambda: None)
    monkeypatch.setattr(install, "toolchain", lambda: None)
    monkeypatch.setattr(subprocess, "run", called)
    monkeypatch.setattr(subprocess, "call", lambda command, **_: called(command).returncode)
    return found


def assert_enough(extras, modules, directory):
    assert extras and modules
    places = [str(ROOT), str(ROOT / "python"), str(of_extras(extras, directory / "packages"))]
    code = "import importlib, sys; sys.path += sys.argv[1].split(':')\nfor module in sys.argv[2:]: importlib.import_module(module)"
    # -I -S: without the packages of this environment.
    run(sys.executable, "-I", "-S", "-c", code, ":".join(places), *modules, cwd=ROOT)


@pytest.mark.parametrize("extras", sorted({study.extras for study in STUDIES.values()}))
def test_studies_import_nothing_that_they_do_not_install(extras, recorded, tmp_path, monkeypatch):
    """Those with the same packages in one process: the imports take long."""
    for name, study in STUDIES.items():
        if study.extras == extras:
            studies(name)
    monkeypatch.undo()
    assert set(recorded["extras"]) == set(extras)
    assert_enough(recorded["extras"], recorded["modules"], tmp_path)
