"""./build.sh docs: the site has every page, public name and function of C, and every link inside it leads somewhere."""

import importlib
import re
import subprocess
import sys
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urldefrag, urlsplit

import pytest
from tutorials import notebooks, outputs, printed

ROOT = Path(__file__).resolve().parents[2]
MODULES = ["torch", "torch.baselines", "keras", "jax", "xgboost", "lightgbm", "posthoc", "metrics", "plots"]


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The site as ./build.sh docs makes it: a warning of Sphinx is an error."""
    (command,) = re.findall(r"-m (sphinx -W .*) -d build/docs-read docs build/docs\n", (ROOT / "build.sh").read_text())
    made = tmp_path_factory.mktemp("site")
    arguments = [*command.split(), "-d", made / "read", "docs", made / "html"]
    done = subprocess.run([sys.executable, "-m", *arguments], cwd=ROOT, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr[-5000:]
    return made / "html"


class Links(HTMLParser):
    """The anchors of a page, what it links to, and what it shows."""

    def __init__(self, page):
        super().__init__()
        self.anchors, self.targets = set(), []
        self.feed(page.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self.anchors.add(given.get("id"))
        for name in ("href", "src"):
            if given.get(name):
                self.targets.append(given[name])


def broken(site):
    """Each link to a file or an anchor of the site that is not there, as (page, link)."""
    pages = {page: Links(page) for page in site.rglob("*.html")}
    found = []
    for page, links in pages.items():
        for target in links.targets:
            if urlsplit(target).scheme or target.startswith("//"):
                continue
            path, anchor = urldefrag(target)
            file = (page.parent / unquote(urlsplit(path).path)).resolve() if path else page
            gone = not file.is_file() or (anchor and file in pages and unquote(anchor) not in pages[file].anchors)
            if gone:
                found.append((page.name, target))
    return found


def test_links_inside_lead_somewhere(site):
    assert sum(len(Links(page).targets) for page in site.glob("*.html")) > 1000
    # Furo's own; "Back to top" is the start of any page.
    assert [link for link in broken(site) if link[1] not in ("#", "#furo-main-content")] == []


def test_every_page_of_the_folder_is_in_the_sidebar(site):
    sidebar = (site / "index.html").read_text().partition('class="sidebar-tree"')[2].partition("<article")[0]
    docs = ROOT / "docs"
    pages = {str(page.relative_to(docs).with_suffix("")) for page in docs.rglob("*.md")} - {"index"}
    assert pages == set(re.findall(r'href="([\w/-]+)\.html"', sidebar))


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
        # The three modules have one and the same class Events; PyTorch's has the page.
        home = "libmode.torch" if name == "Events" else module
        page = site / "api" / f"{home}.{name}.html"
        assert page.exists(), f"docs/reference.md does not list {module}.{name}"
        assert f'id="{home}.{name}"' in page.read_text()


def test_every_function_of_c_is_in_the_reference(site):
    # tests/c/abi.txt has the symbols that the library exports.
    symbols = re.findall(r"^(mode_\w+): .*\(", (ROOT / "tests" / "c" / "abi.txt").read_text(), re.MULTILINE)
    assert len(symbols) > 20
    anchors = Links(site / "reference.html").anchors
    assert [name for name in symbols if f"c.{name}" not in anchors] == []
