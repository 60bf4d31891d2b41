"""docs/five-minutes.md works at the first try: what it says to install is all that its programs need.

Fresh is a virtual environment for each section, with libmode from its wheel and nothing else but what pip would bring for
the section's command, by the requirements of the wheel and of each package. Not fresh are the files of those packages:
links to the ones of this environment, since PyTorch alone is 3 GB to download.
"""

import os
import re
import sysconfig
import zipfile
from importlib.metadata import PathDistribution

import libmode
import pytest
from packaging.requirements import Requirement
from places import ROOT, Environment, linked, required
from programs import run
from shown import assert_alike, shown_after

PAGE = (ROOT / "docs" / "five-minutes.md").read_text()
SECTIONS = {
    title: text for title, text in re.findall(r"^##+ (.+)\n((?:(?!##+ ).*\n)*)", PAGE, re.MULTILINE) if "```" in text
}


def requirements(wheel, command):
    """What `pip install ARGUMENTS` asks for, with libmode from a wheel: the requirements but libmode itself."""
    package, found = PathDistribution(zipfile.Path(wheel, f"libmode-{libmode.__version__}.dist-info/")), []
    for own in map(Requirement, command.replace("'", "").split()[2:]):
        assert own.name != "libmode" or own.extras <= set(package.metadata.get_all("Provides-Extra"))
        found += required(package, own.extras) if own.name == "libmode" else [own]
    return found


def test_there_are_three():
    assert list(SECTIONS) == ["PyTorch", "Keras", "XGBoost"]


@pytest.mark.parametrize("section", SECTIONS)
def test_a_newcomer(section, wheel, tmp_path):
    text = SECTIONS[section]
    command = re.search(r"`(pip install [^`]+)`", text)[1]
    (program,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)

    environment = Environment(tmp_path / "environment")
    packages = linked(requirements(wheel, command), tmp_path / "packages")
    site = sysconfig.get_path("purelib", vars={"base": str(environment.bin.parent)})
    with open(os.path.join(site, "packages.pth"), "w") as file:
        file.write(f"{packages}\n")
    environment.install("--no-deps", "--no-index", wheel, PYTHONPATH="")

    (tmp_path / "empty").mkdir()
    clean = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
    where = run(environment.python, "-c", "import libmode; print(libmode.__file__)", cwd=tmp_path / "empty", env=clean)
    assert where.startswith(str(environment.bin.parent))
    printed = run(environment.python, "-W", "error", "-c", program, cwd=tmp_path / "empty", env=clean)
    assert_alike(printed, shown_after(text, program))
    residuals = [float(number) for number in re.findall(r"residual ([\d.]+)", printed)]
    assert residuals[1] < residuals[0] / 5
    assert list((tmp_path / "empty").iterdir()) == []
