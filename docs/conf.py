"""How Sphinx makes the site of these pages: ./build.sh docs."""

import inspect
import os
import re
import sys
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parent
ROOT = DOCS.parent
sys.path[:0] = [str(DOCS), str(ROOT / "python")]
import links  # noqa: E402

os.environ.setdefault("KERAS_BACKEND", "jax")  # for importing libmode.keras, no more

project = "libmode"
author = "The libmode developers"
copyright = "2026, the libmode authors"
_number = dict(
    re.findall(r"^#define MODE_VERSION_(MAJOR|MINOR|PATCH) (\d+)", (ROOT / "include/mode.h").read_text(), re.M)
)
version = release = "{MAJOR}.{MINOR}.{PATCH}".format(**_number)

extensions = [
    "myst_nb",  # and of it MyST's parser
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.linkcode",
    "sphinx.ext.mathjax",
    "sphinx_copybutton",
    "c_header",
    "complete",
    "links",
    "notebooks",
]
exclude_patterns = ["_templates"]
templates_path = ["_templates"]
highlight_language = "none"  # of blocks that do not say: formulas, commands
nitpicky = True
nitpick_ignore = [("c:identifier", name) for name in ("size_t", "int32_t", "uint64_t")]

# Pages.
myst_enable_extensions = ["dollarmath", "fieldlist"]
myst_heading_anchors = 4  # the anchors of a code host, which pages link to
suppress_warnings = ["myst.header"]

# Tutorials, whose outputs notebooks.py hands over; what has none there is executed.
nb_execution_mode = "cache"
nb_execution_in_temp = True
nb_execution_timeout = 600  # seconds for a cell

# The reference, from the docstrings of what is imported: the extra docs has every framework. Sphinx's mocks would not
# do in their place, since Keras is asked for its backend, and PyTorch reads annotations, while libmode is imported.
autodoc_typehints = "none"
autodoc_member_order = "bysource"
numpydoc_show_class_members = False

# Links to Python's and NumPy's own pages, where there is a network to fetch their inventories from.
if os.environ.get("LIBMODE_INTERSPHINX") == "1":
    extensions.append("sphinx.ext.intersphinx")
    intersphinx_mapping = {
        "python": ("https://docs.python.org/3", None),
        "numpy": ("https://numpy.org/doc/stable", None),
        "torch": ("https://docs.pytorch.org/docs/stable", None),
    }

html_theme = "furo"
html_title = f"libmode {release}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sphinx = False
html_theme_options = {
    "source_repository": f"{links.REPOSITORY}/",
    "source_branch": "main",
    "source_directory": "docs/",
    "top_of_page_buttons": ["view"],
}


def linkcode_resolve(domain: str, info: dict[str, str]) -> str | None:
    """The lines of a public name in the repository."""
    if domain != "py" or not info["module"]:
        return None
    found: Any = sys.modules[info["module"]]
    for part in info["fullname"].split("."):
        found = getattr(found, part, None)
    try:
        file = Path(inspect.getsourcefile(inspect.unwrap(found)) or "")
        lines, start = inspect.getsourcelines(inspect.unwrap(found))
    except (OSError, TypeError):  # a property, a value
        return None
    if ROOT not in file.parents:  # inherited from a framework
        return None
    address = links.in_repository(file.relative_to(ROOT).as_posix())
    return f"{address}#L{start}-L{start + len(lines) - 1}"
