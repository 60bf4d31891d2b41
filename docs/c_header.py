"""The directive ``c-header``: a page of mode.h, from its comments and declarations, which are written to be read.

A section of the header is a section of the page. Each function and struct is an entry of Sphinx's C domain, so that
it has an anchor and is found by the search; the comment above it is its text.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from docutils import nodes
from docutils.statemachine import StringList
from links import in_repository
from sphinx.util.docutils import SphinxDirective
from sphinx.util.nodes import nested_parse_with_titles


class Block(NamedTuple):
    """A comment of the header, and the declarations between it and the next one."""

    comment: str
    code: str


_COMMENT = re.compile(r"^/\*(?P<comment>.*?)\*/[ ]*\n(?P<code>.*?)(?=^/\*|\Z)", re.MULTILINE | re.DOTALL)


def blocks(header: str) -> list[Block]:
    """The comments that begin a line, in their order, each with what follows it.

    Raises ValueError where a function is declared that no comment is above.
    """
    first = header.index("/*")
    if "MODE_API int" in header[:first]:
        raise ValueError("mode.h: a function is declared before the first comment")
    return [Block(_text(found["comment"]), found["code"].strip("\n")) for found in _COMMENT.finditer(header)]


def _text(comment: str) -> str:
    """A comment without its stars."""
    lines = [re.sub(r"^ \* ?", "", line) for line in comment.split("\n")]
    return "\n".join(lines).strip("\n").strip()


def functions(code: str) -> list[str]:
    """The functions that are declared, each on one line without MODE_API."""
    return [" ".join(found.split()) for found in re.findall(r"^MODE_API ((?:.|\n)*?);", code, re.MULTILINE)]


def structs(code: str) -> list[str]:
    """The names of the structs that are declared, opaque ones included."""
    return [found[0] for found in re.findall(r"^typedef struct (\w+) (\{|\1;)", code, re.MULTILINE)]


def rst(block: Block) -> Iterator[str]:
    """The lines of a block: a title where the comment is one, or else its entry, with the comment as its text."""
    title = re.fullmatch(r"-{3,} *(.+)", block.comment)
    if title:
        name = title[1].capitalize()
        yield from ["", name, "-" * len(name), ""]
        text = ""
    else:
        text = block.comment
    declared = functions(block.code)
    types = structs(block.code)
    rest = re.sub(r"^MODE_API (?:.|\n)*?;\n?", "", block.code, flags=re.MULTILINE).strip("\n")
    rest = "\n".join(line for line in rest.split("\n") if not _is_of_the_compiler(line)).strip("\n")
    indent = ""
    if declared:
        yield from _entry("c:function", declared)
        indent = "   "
    elif types:
        yield from _entry("c:struct", types)
        indent = "   "
    for line in _paragraphs(text):
        yield indent + line if line else ""
    if rest:
        yield from [f"{indent}.. code-block:: c", ""]
        yield from (f"{indent}   {line}" if line else "" for line in rest.split("\n"))
        yield ""


def _entry(directive: str, names: list[str]) -> Iterator[str]:
    """The head of an entry of several signatures."""
    head = f".. {directive}:: "
    yield head + names[0]
    for name in names[1:]:
        yield " " * len(head) + name
    yield ""


def _is_of_the_compiler(line: str) -> bool:
    """Whether a line is for the compiler alone."""
    return bool(
        re.match(r"#(if|el|endif|include|ifndef)|#define (LIBMODE_MODE_H|MODE_API|MODE_QUOTE)|extern \"C\"|\}$", line)
    )


def _paragraphs(text: str) -> Iterator[str]:
    """Plain text as reStructuredText: what is set in columns or indented stays as it is laid out."""
    for paragraph in filter(None, re.split(r"\n{2,}", text)):
        if re.search(r"^ |   \S", paragraph, re.MULTILINE):
            yield from ["::", "", *(f"   {line}" for line in paragraph.split("\n")), ""]
        else:
            yield from [re.sub(r"([\\*_`|])", r"\\\1", " ".join(paragraph.split())), ""]


class Header(SphinxDirective):
    """``c-header`` with the path of the header, relative to the page."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Called by Sphinx."""
        relative, path = self.env.relfn2path(self.arguments[0])
        self.env.note_dependency(relative)
        lines = [line for block in blocks(Path(path).read_text(encoding="utf-8")) for line in rst(block)]
        node = nodes.section(document=self.state.document)
        nested_parse_with_titles(self.state, StringList(lines, source=path), node)
        return node.children


PAGE = """mode.h
======

The header `mode.h`_, in its own words. How to compile with it: :doc:`/cpp`.

.. _mode.h: {address}

.. c-header:: ../../include/mode.h
"""


def _write(app: Any) -> None:
    """The page of the header, next to the pages of the Python names."""
    folder = Path(app.srcdir, "api")
    folder.mkdir(exist_ok=True)
    address = in_repository("include/mode.h")
    (folder / "header.rst").write_text(PAGE.format(address=address))


def setup(app: Any) -> dict[str, bool]:
    """Called by Sphinx."""
    app.add_directive("c-header", Header)
    app.connect("builder-inited", _write, priority=1)  # before the pages are found
    return {"parallel_read_safe": True}
