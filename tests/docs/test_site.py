"""./build.sh docs: the site has every page, public name and function of C, and every link inside it leads somewhere."""

import importlib
import re
import sys
from html import unescape
from pathlib import Path

import pytest
from programs import run
from tutorials import notebooks, outputs, printed

ROOT = Path(__file__).resolve().parents[2]
MODULES = ["torch", "keras", "jax", "xgboost", "lightgbm", "posthoc", "metrics", "plots"]


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The site as ./build.sh docs makes it: a warning of Sphinx is an error."""
    (command,) = re.findall(r"-m (sphinx -W .*) -d build/docs-read docs build/docs\n", (ROOT / "build.sh").read_text())
    made = tmp_path_factory.mktemp("site")
    run(sys.executable, "-m", *command.split(), "-d", made / "read", "docs", made / "html", cwd=ROOT)
    return made / "html"


def test_files_that_pages_link_to_are_there():
    """Of links to pages, their sections and images Sphinx warns by itself, and of pages that no table of contents has."""
    links = [
        (page.parent / path, path)
        for page in (ROOT / "docs").rglob("*.md")
        for path in re.findall(r"\]\(([^):#\s]+)[^):\s]*\)", page.read_text(encoding="utf-8"))
    ]
    assert len(links) > 100
    assert [path for file, path in links if not file.exists()] == []


def test_tutorials_show_their_outputs(site):
    for name in notebooks.names():
        page = (site / "tutorials" / f"{name}.html").read_text(encoding="utf-8")
        words = unescape(re.sub(r"<[^>]*>", "", page))
        tutorial = notebooks.stored(name)
        lines = [line for line in printed(tutorial).splitlines() if line.strip()]
        assert lines and [line for line in lines if line not in words] == []
        drawn = [out for out in outputs(tutorial) if "image/png" in out.get("data", {})]
        assert page.count('src="../_images/') == len(drawn) > 0


@pytest.mark.parametrize("module", ["libmode", *(f"libmode.{name}" for name in MODULES)])
def test_every_public_name_has_a_page(site, module):
    for name in importlib.import_module(module).__all__:
        page = site / "api" / f"{module}.{name}.html"
        assert page.exists(), f"docs/reference.md does not list {module}.{name}"
        assert f'id="{module}.{name}"' in page.read_text()


def test_every_function_of_c_is_in_the_reference(site):
    # tests/c/abi.txt has the symbols that the library exports.
    symbols = re.findall(r"^(mode_\w+): .*\(", (ROOT / "tests" / "c" / "abi.txt").read_text(), re.MULTILINE)
    assert len(symbols) > 20
    reference = (site / "api" / "header.html").read_text(encoding="utf-8")
    assert [name for name in symbols if f'id="c.{name}"' not in reference] == []
