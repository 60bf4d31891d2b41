"""The columns of ROOT, Parquet, HDF5 and CSV files, and the errors that their user can fix."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from difflib import get_close_matches
from functools import partial
from glob import glob
from pathlib import Path
from typing import Any, NamedTuple

import click
import numpy as np
import pandas as pd
from numpy.typing import NDArray

MOST_NAMES = 20


class Problem(click.ClickException):
    """One sentence that names the option or the file. The command ends with status 2."""

    exit_code = 2


def known(names: Iterable[str], wanted: str) -> str:
    """At most 20 of the names that exist, beginning with the names most like ``wanted``."""
    there = list(names)
    shown = get_close_matches(wanted, there, n=MOST_NAMES, cutoff=0) or ["none"]
    return ", ".join(shown) + (f" and {len(there) - MOST_NAMES} more" if len(there) > MOST_NAMES else "")


class Source(NamedTuple):
    """A file, and the tree, group or data set in it; None for the only one."""

    path: Path
    tree: str | None

    def __str__(self) -> str:
        return str(self.path) if self.tree is None else f"{self.path}:{self.tree}"


#: The columns of a file by name: functions that return the values, one for each entry.
Columns = dict[str, Callable[[], Any]]


def find(argument: str) -> list[Source]:
    """The files of FILE[:TREE], in alphabetical order; FILE may be a pattern, in which ``**`` means folders."""
    before, _, tree = argument.rpartition(":")
    for name, inside in ((argument, None), (before, tree)):
        paths = [Path(name)] if name and Path(name).exists() else sorted(map(Path, glob(name, recursive=True)))
        if files := [Source(path, inside) for path in paths if path.is_file()]:
            return files
    raise Problem(f"there is no file {argument!r}: expected files on this machine, or a pattern such as 'mc*.root'.")


@contextmanager
def opened(source: Source) -> Iterator[Columns]:
    """The columns of a file. Its first bytes tell the format; for CSV its name does."""
    with open(source.path, "rb") as file:
        head = file.read(8)
    if head.startswith(b"root"):
        import uproot

        with uproot.open(source.path) as root:
            yield _root(root, source)
    elif head == b"\x89HDF\r\n\x1a\n":
        import h5py

        with suppress(ImportError):
            import hdf5plugin  # noqa: F401 # salt's compression, and others

        with h5py.File(source.path, "r") as hdf5:
            try:
                yield _hdf5(hdf5, source)
            except OSError as error:
                if "plugin" not in str(error):
                    raise
                raise Problem(f"{source} has a compression that h5py lacks: pip install hdf5plugin.") from error
    elif source.tree is not None:
        raise Problem(f"{source}: only ROOT and HDF5 files have trees or groups; leave out ':{source.tree}'.")
    elif head.startswith(b"PAR1"):
        from pyarrow import parquet

        with parquet.ParquetFile(source.path) as of_parquet:
            names = of_parquet.schema_arrow.names
            yield {name: partial(lambda one: of_parquet.read([one])[one].to_pandas(), name) for name in names}
    elif {".csv", ".tsv", ".txt"} & set(source.path.suffixes):
        with pd.io.common.get_handle(source.path, "r", compression="infer") as lines:
            first = lines.handle.readline()
        frame = pd.read_csv(source.path, sep=max(",;\t", key=first.count), engine="pyarrow")
        yield {name: partial(frame.__getitem__, name) for name in frame.columns}
    else:
        raise Problem(f"{source.path} is not a ROOT, Parquet, HDF5 or .csv file.")


def _root(file: Any, source: Source) -> Columns:
    """The branches or fields of a tree; a leaf list has a column for each leaf, branch.leaf."""
    kinds = file.classnames(cycle=False)
    names = [name for name, kind in kinds.items() if kind.startswith(("TTree", "TNtuple")) or "RNTuple" in kind]
    chosen = _chosen(source, names, "tree")
    tree, is_tree = file[chosen], kinds[chosen].startswith("T")
    columns: Columns = {}

    def read(branch: Any, leaf: str | None) -> NDArray[Any]:
        values = branch.array(library="np")
        return np.asarray(values if leaf is None else values[leaf])

    for key, branch in [*tree.items(full_paths=not is_tree), *tree.items()]:
        leaves = getattr(getattr(branch, "interpretation", None), "from_dtype", np.dtype(float)).names
        for leaf in leaves or [None]:
            columns.setdefault(key if leaf is None else f"{key}.{leaf}", partial(read, branch, leaf))
    return columns


def _hdf5(file: Any, source: Source) -> Columns:
    """The data sets of a group, or the fields of a data set."""
    import h5py

    tables: dict[str, Columns] = {}

    def look(name: str, item: Any) -> None:
        group, _, column = name.rpartition("/")
        if isinstance(item, h5py.Dataset) and item.ndim and "/_i_" not in name:  # an index of PyTables
            if item.dtype.names:
                tables[name] = {field: partial(item.fields(field).__getitem__, ...) for field in item.dtype.names}
            else:
                values = item.asstr() if h5py.check_string_dtype(item.dtype) else item
                tables.setdefault(group or "/", {})[column] = partial(values.__getitem__, ...)

    file.visititems(look)
    return tables[_chosen(source, list(tables), "group or data set")]


def _chosen(source: Source, names: list[str], what: str) -> str:
    """The name that the user gives, or the only one."""
    tree = source.tree and (source.tree.strip("/") or "/")
    if tree in names:
        return str(tree)
    there = known(names, tree or "")
    if tree is not None:
        raise Problem(f"{source.path} has no {what} {source.tree!r}; it has {there}.")
    if len(names) != 1:
        raise Problem(f"{source.path} has not one {what} but {len(names)}, {there}: say which, as in FILE:NAME.")
    return names[0]
