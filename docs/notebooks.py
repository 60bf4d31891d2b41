"""The tutorials, which are notebooks, and their outputs: `./build.sh docs --execute` runs them and writes these anew.

A tutorial is docs/tutorials/NAME.md, a notebook in MyST Markdown. What its cells print and draw lies in
docs/tutorials/outputs: NAME.json, which has the hash of the code that made it, and a PNG for each picture. Sphinx takes
the outputs from there, so that building the site trains nothing; a tutorial whose code has another hash is executed.
"""

import argparse
import base64
import json
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from jupyter_cache import get_cache
from jupyter_cache.readers import get_reader
from nbclient import NotebookClient
from nbformat import NotebookNode, from_dict

TUTORIALS = Path(__file__).parent / "tutorials"
OUTPUTS = TUTORIALS / "outputs"
SECONDS = 600  # for a cell
PICTURE, TEXT = "image/png", "text/plain"

# Keras imports TensorFlow, where there is one, which has notes on the processor.
SILENT = {"TF_CPP_MIN_LOG_LEVEL": "3", "TF_ENABLE_ONEDNN_OPTS": "0"}


def names() -> list[str]:
    """Of all tutorials."""
    return sorted(page.stem for page in TUTORIALS.glob("*.md"))


def read(name: str) -> NotebookNode:
    """The notebook, without outputs."""
    return get_reader({"type": "plugin", "name": "myst_nb_md"})(str(TUTORIALS / f"{name}.md"))


def code(notebook: NotebookNode) -> list[NotebookNode]:
    """The cells of code."""
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def code_hash(notebook: NotebookNode) -> str:
    """By which jupyter-cache knows the cells of code and their metadata; text and outputs do not change it."""
    with tempfile.TemporaryDirectory() as folder:
        return str(get_cache(folder).create_hashed_notebook(notebook)[1])


def execute(name: str) -> NotebookNode:
    """The notebook with its outputs, from a kernel of its own in an empty folder."""
    notebook = read(name)
    with tempfile.TemporaryDirectory() as folder:
        # Timing would be in the cells' metadata, of which the hash is too; pieces of a stream come as they like.
        options = {"timeout": SECONDS, "record_timing": False, "coalesce_streams": True}
        client = NotebookClient(notebook, resources={"metadata": {"path": folder}}, **options)
        client.execute(env=os.environ | SILENT)
    return notebook


def store(name: str, notebook: NotebookNode) -> None:
    """Writes the outputs of a notebook into the tree, in place of those that are there."""
    OUTPUTS.mkdir(exist_ok=True)
    for old in OUTPUTS.glob(f"{name}-*.png"):
        old.unlink()
    pictures = 0
    cells = []
    for cell in code(notebook):
        kept = json.loads(json.dumps(cell.outputs))
        for output in kept:
            output.pop("execution_count", None)
            data = output.get("data", {})
            if PICTURE in data:
                pictures += 1
                file = OUTPUTS / f"{name}-{pictures}.png"
                file.write_bytes(base64.b64decode(data[PICTURE]))
                output["data"] = {PICTURE: file.name}
            elif data:
                output["data"] = {TEXT: data[TEXT].splitlines(keepends=True)}
            else:
                output["text"] = output["text"].splitlines(keepends=True)
        cells.append(kept)
    whole = {"code": code_hash(notebook), "cells": cells}
    (OUTPUTS / f"{name}.json").write_text(json.dumps(whole, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def stored(name: str) -> NotebookNode | None:
    """The notebook with the outputs that are in the tree, or None where they are of other code."""
    notebook, file = read(name), OUTPUTS / f"{name}.json"
    found = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    if found.get("code") != code_hash(notebook):
        return None
    for cell, outputs in zip(code(notebook), found["cells"], strict=True):
        for output in outputs:
            if output["output_type"] == "execute_result":
                output["execution_count"] = None
            if PICTURE in output.get("data", {}):
                picture = (OUTPUTS / output["data"][PICTURE]).read_bytes()
                output["data"][PICTURE] = base64.b64encode(picture).decode()
            elif "data" in output:
                output["data"][TEXT] = "".join(output["data"][TEXT])
            else:
                output["text"] = "".join(output["text"])
        cell.outputs = [from_dict(output) for output in outputs]
    return notebook


def _hand_over(app: Any, config: Any) -> None:
    """Gives the outputs to MyST-NB, by its cache."""
    folder = Path(app.doctreedir) / "notebooks"
    config.nb_execution_cache_path = str(folder)
    cache = get_cache(folder)
    cache.clear_cache()
    for name in names():
        notebook = stored(name)
        if notebook is not None:
            with tempfile.NamedTemporaryFile("w", suffix=".ipynb", encoding="utf-8") as file:
                json.dump(notebook, file)
                file.flush()
                cache.cache_notebook_file(file.name, uri=name, check_validity=False)


def _depend(app: Any, page: str, _: list[str]) -> None:
    """A page is read anew when its outputs are."""
    folder, _, name = page.rpartition("/")
    if folder == TUTORIALS.name:
        app.env.note_dependency(str(OUTPUTS / f"{name}.json"))


def setup(app: Any) -> dict[str, bool]:
    """Called by Sphinx."""
    app.connect("config-inited", _hand_over)
    app.connect("source-read", _depend)
    return {"parallel_read_safe": True}


def main() -> None:
    """Executes tutorials and writes their outputs."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("name", nargs="*", help=f"of {', '.join(names())}; all by default")
    chosen = parser.parse_args().name or names()
    unknown = sorted(set(chosen) - set(names()))
    if unknown:
        parser.error(f"no tutorial {unknown[0]!r}: there are {', '.join(names())}")
    for name in chosen:
        start = time.monotonic()
        store(name, execute(name))
        print(f"{name}: {time.monotonic() - start:.0f} s", file=sys.stderr)


if __name__ == "__main__":
    main()
