"""What links and images of a page become on the site, where they are written for readers of the repository."""

from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.transforms import SphinxTransform
from sphinx.transforms.post_transforms import SphinxPostTransform

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
            path = self._outside(link["reftarget"].partition("#")[0])
            if path is not None:
                link.replace_self(nodes.reference("", "", *link.children, refuri=in_repository(path)))
            elif link.astext() == f"{link['reftarget']}.md":
                link["refexplicit"] = False
                link.clear()

    def _outside(self, target: str) -> str | None:
        """The path of a target outside of docs/, or None. A page comes as an absolute path without its ending.

        Links of CHANGELOG.md, which a page includes, count from the root.
        """
        beside = Path(self.env.srcdir, self.env.docname).parent / target
        for path in (beside.resolve(), beside.with_suffix(".md").resolve(), ROOT / target):
            if path.exists() and Path(self.env.srcdir) not in path.parents and ROOT in path.parents:
                return path.relative_to(ROOT).as_posix()
        return None


class Captions(SphinxPostTransform):
    """The text of an image, which says what to see, becomes its caption."""

    default_priority = 900  # after the outputs of notebooks are chosen

    def run(self, **_: Any) -> None:
        """Called by Sphinx for each page."""
        for number, image in enumerate(list(self.document.findall(nodes.image)), 1):
            if image.get("alt") and not isinstance(image.parent, nodes.figure):
                caption = nodes.caption("", image["alt"])
                image.replace_self(nodes.figure("", image.deepcopy(), caption, ids=[f"figure-{number}"]))


def setup(app: Any) -> dict[str, bool]:
    """Called by Sphinx."""
    app.add_transform(Links)
    app.add_post_transform(Captions)
    return {"parallel_read_safe": True}
