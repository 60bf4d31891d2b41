"""The links of the pages; and in test-full ./build.sh docs, of whose site every public name and function of C has a page."""

import importlib
import re
import sys
from pathlib import Path

import pytest
from programs import run

ROOT = Path(__file__).resolve().parents[2]
MODULES = ["torch", "keras", "jax", "xgboost", "lightgbm", "posthoc", "metrics", "plots"]


def anchors(page):
    """What links to the headings of the page say, which GitHub and MyST spell with other hyphens."""
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    return set(map(plain, re.findall(r"^#+ (.+)$", text, re.MULTILINE)))


def plain(heading):
    return re.sub(r"\W", "", heading.lower())


def test_pages_link_to_files_and_headings_that_are_there():
    links = [
        (page, path, heading)
        for page in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")]
        for path, heading in re.findall(r"\]\(([^):#\s]*)(?:#([\w-]+))?\)", page.read_text(encoding="utf-8"))
    ]
    assert len(links) > 100
    gone = [(page.name, path) for page, path, _ in links if not (page.parent / path).exists()]
    of_pages = [(page, page.parent / path if path else page, head) for page, path, head in links if head]
    lost = [(page.name, head) for page, to, head in of_pages if to.suffix == ".md" and plain(head) not in anchors(to)]
    assert gone + lost == []


@pytest.mark.full
def test_the_site(tmp_path):
    """A warning of Sphinx is an error."""
    (command,) = re.findall(r"-m (sphinx -W .*) -d build/docs-read docs build/docs\n", (ROOT / "build.sh").read_text())
    run(sys.executable, "-m", *command.split(), "-d", tmp_path / "read", "docs", tmp_path / "html", cwd=ROOT)
    for module in ("libmode", *(f"libmode.{name}" for name in MODULES)):
        for name in importlib.import_module(module).__all__:
            page = tmp_path / "html" / "api" / f"{module}.{name}.html"
            assert page.exists(), f"docs/reference.md does not list {module}.{name}"
            assert f'id="{module}.{name}"' in page.read_text()
    # tests/c/abi.txt has the symbols that the library exports.
    symbols = re.findall(r"^(mode_\w+): .*\(", (ROOT / "tests" / "c" / "abi.txt").read_text(), re.MULTILINE)
    reference = (tmp_path / "html" / "api" / "header.html").read_text(encoding="utf-8")
    assert symbols and [name for name in symbols if f'id="c.{name}"' not in reference] == []
