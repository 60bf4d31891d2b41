"""What a link of a page becomes on the site, where it is written for readers of the repository."""

from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.transforms import SphinxTransform

ROOT = Path(__file__).resolve().parents[1]
REPOSITORY = "https://github.com/libmode/libmode"


def in_repository(path: str) -> str:
    """The address of a file or folder, relative to the root."""
    return f"{REPOSITORY}/{'tree' if (ROOT / path).is_dir() else 'blob'}/main/{path}"


class Links(SphinxTransform):
    """Links to folders and pages outside of docs/ lead to the repository: the site has copies of programs alone.

    Links whose text is the name of the page's file get the title of that page, or section, for a text.
    """

    default_priority = 5

    def apply(self, **_: Any) -> None:
        """Called by Sphinx for each page."""
        for link in list(self.document.findall(addnodes.pending_xref)):
            if link.get("reftype") != "myst":
                continue
            target = Path(self.env.srcdir, self.env.docname).parent / link["reftarget"]
            # A page outside of docs/ is an absolute path without its ending, a folder is written as in the page.
            page = target.with_suffix(".md") if target.with_suffix(".md").exists() else target
            if link["reftarget"].startswith(("../", "/")) and page.exists():
                path = page.resolve().relative_to(ROOT).as_posix()
                link.replace_self(nodes.reference("", "", *link.children, refuri=in_repository(path)))
            elif link.astext() == f"{link['reftarget']}.md":
                link["refexplicit"] = False
                link.clear()


def setup(app: Any) -> dict[str, bool]:
    """Called by Sphinx."""
    app.add_transform(Links)
    return {"parallel_read_safe": True}
