"""What a link of a page becomes on the site, where it is written for readers of the repository."""

from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.transforms import SphinxTransform


class Links(SphinxTransform):
    """Links to folders outside of docs/ become their text: the site has copies of files, and none of folders.

    Links whose text is the name of the page's file get the title of that page, or section, for a text.
    """

    default_priority = 5

    def apply(self, **_: Any) -> None:
        """Called by Sphinx for each page."""
        for link in list(self.document.findall(addnodes.pending_xref)):
            if link.get("reftype") != "myst":
                continue
            if link["reftarget"].startswith("../"):
                link.replace_self(nodes.literal(text=link.astext()))
            elif link.astext() == f"{link['reftarget']}.md":
                link["refexplicit"] = False
                link.clear()


def setup(app: Any) -> dict[str, bool]:
    """Called by Sphinx."""
    app.add_transform(Links)
    return {"parallel_read_safe": True}
