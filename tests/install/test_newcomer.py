"""The first programs of docs/ work at the first try: what the pages say to install is all that they need.

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

#: The pages, each with the section that has a command of pip and a program.
SECTIONS = {"five-minutes": "PyTorch", "keras": "Keras", "trees": "Train, and judge on other events"}


def requirements(wheel, command):
    """What `pip install ARGUMENTS` asks for, with libmode from a wheel: the requirements but libmode itself."""
    package, found = PathDistribution(zipfile.Path(wheel, f"libmode-{libmode.__version__}.dist-info/")), []
    for own in map(Requirement, command.replace("'", "").split()[2:]):
        assert own.name != "libmode" or own.extras <= set(package.metadata.get_all("Provides-Extra"))
        found += required(package, own.extras) if own.name == "libmode" else [own]
    return found


@pytest.mark.parametrize("page", SECTIONS)
def test_a_newcomer(page, wheel, tmp_path):
    whole = (ROOT / "docs" / f"{page}.md").read_text()
    text = re.search(rf"^##+ {SECTIONS[page]}\n((?:(?!##+ ).*\n)*)", whole, re.MULTILINE)[1]
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
    if (shown := shown_after(text, program)) is None:
        assert printed.startswith("flat at order 1 ")
    else:
        assert_alike(printed, shown)
    assert list((tmp_path / "empty").iterdir()) == []
