"""The sidebar of the site: the sections of index.md, whose lists of links are readable without Sphinx too."""

import re
from typing import Any


def toctrees(text: str) -> str:
    """A hidden toctree for each section of ``text``, with the pages of its list in their order and by their names."""
    made = []
    for caption, section in re.findall(r"^## (.+)\n((?:(?!## ).*\n?)*)", text, re.MULTILINE):
        pages = re.findall(r"^- \[([^]]+)\]\(([\w/-]+)\.md\)", section, re.MULTILINE)
        entries = "\n".join(f"{name} <{page}>" for name, page in pages)
        if entries:
            made.append(f"\n```{{toctree}}\n:hidden:\n:caption: {caption}\n\n{entries}\n```\n")
    return "".join(made)


def _add(app: Any, page: str, source: list[str]) -> None:
    if page == "index":
        source[0] += toctrees(source[0])


def setup(app: Any) -> dict[str, bool]:
    """Called by Sphinx."""
    app.connect("source-read", _add)
    return {"parallel_read_safe": True}
