"""ROOT, Parquet, HDF5 and CSV files as tables of columns, read in chunks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from .problem import Problem, known
from .sources import Source

CHUNK = 500_000  # entries: some megabytes for a column

Columns = dict[str, NDArray[Any]]


@dataclass(frozen=True)
class Table:
    """Columns of equal length."""

    columns: list[str]
    entries: int
    #: yields the columns of these names in chunks
    chunks: Callable[[list[str]], Iterator[Columns]]


def opened(source: Source) -> AbstractContextManager[Table]:
    """The table of a file, whose first bytes or, for CSV, whose name tell what it is."""
    with open(source.path, "rb") as file:
        head = file.read(8)
    for start, opener in ((b"root", _root), (b"PAR1", _parquet), (b"\x89HDF\r\n\x1a\n", _hdf5)):
        if head.startswith(start):
            return opener(source)
    if any(suffix.lower() in (".csv", ".txt") for suffix in source.path.suffixes):
        return _csv(source)
    raise Problem(f"{source.path} is no ROOT, Parquet, HDF5 or .csv file.")


@contextmanager
def _root(source: Source) -> Iterator[Table]:
    import uproot

    with uproot.open(source.path) as file:
        kinds = file.classnames(cycle=False)
        names = [name for name, kind in kinds.items() if kind.startswith(("TTree", "TNtuple")) or "RNTuple" in kind]
        tree = file[_chosen(source, names, "tree")]
        columns = list(dict.fromkeys([*tree.keys(full_paths=False), *tree.keys()]))
        entries = int(tree.num_entries)

        def chunks(wanted: list[str]) -> Iterator[Columns]:
            if entries:
                yield from tree.iterate(wanted, step_size=CHUNK, library="np")

        yield Table(columns, entries, chunks)


@contextmanager
def _parquet(source: Source) -> Iterator[Table]:
    from pyarrow import parquet

    _without_tree(source, "Parquet")
    with parquet.ParquetFile(source.path) as file:

        def chunks(wanted: list[str]) -> Iterator[Columns]:
            for batch in file.iter_batches(CHUNK, columns=wanted):
                yield _of_arrow(batch, wanted)

        yield Table(file.schema_arrow.names, file.metadata.num_rows, chunks)


@contextmanager
def _csv(source: Source) -> Iterator[Table]:
    """A file with a line of names. It is read whole, so that the type of a column is that of all its lines."""
    from pyarrow import csv

    _without_tree(source, "CSV")
    with csv.open_csv(source.path) as beginning:
        names = beginning.schema.names
    table: list[Any] = []

    def chunks(wanted: list[str]) -> Iterator[Columns]:
        table.append(csv.read_csv(source.path, convert_options=csv.ConvertOptions(include_columns=wanted)))
        for batch in table.pop().to_batches(CHUNK):
            yield _of_arrow(batch, wanted)

    yield Table(names, 0, chunks)


def _of_arrow(batch: Any, names: list[str]) -> Columns:
    """Missing values are NaN."""
    return {name: batch.column(name).to_numpy(zero_copy_only=False) for name in names}


@contextmanager
def _hdf5(source: Source) -> Iterator[Table]:
    """A group of data sets, or a data set with fields."""
    import h5py

    with h5py.File(source.path, "r") as file:
        groups: dict[str, Any] = {}

        def look(name: str, item: Any) -> None:
            if isinstance(item, h5py.Dataset) and item.ndim:
                if item.dtype.names:
                    groups[name] = item
                else:
                    groups[name.rpartition("/")[0] or "/"] = item.parent

        file.visititems(look)
        if source.tree and source.tree != "/":
            source = source._replace(tree=source.tree.strip("/"))
        table = groups[_chosen(source, list(groups), "group or data set")]
        if isinstance(table, h5py.Dataset):
            yield Table(list(table.dtype.names), len(table), lambda wanted: _fields(table, wanted))
        else:
            arrays = {name: item for name, item in table.items() if isinstance(item, h5py.Dataset) and item.ndim}
            longest = max(map(len, arrays.values()))
            yield Table(list(arrays), longest, lambda wanted: _datasets(source, arrays, wanted))


def _fields(table: Any, wanted: list[str]) -> Iterator[Columns]:
    for start in range(0, len(table), CHUNK):
        part = table.fields(wanted)[start : start + CHUNK]
        yield {name: part[name] for name in wanted}


def _datasets(source: Source, arrays: dict[str, Any], wanted: list[str]) -> Iterator[Columns]:
    first = wanted[0]
    for name in wanted[1:]:
        if len(arrays[name]) != len(arrays[first]):
            raise Problem(
                f"{source}: {name} has {len(arrays[name])} entries and {first} {len(arrays[first])}: expected as many."
            )
    for start in range(0, len(arrays[first]), CHUNK):
        yield {name: arrays[name][start : start + CHUNK] for name in wanted}


def _chosen(source: Source, names: list[str], what: str) -> str:
    """The one that the user names, or the only one that there is."""
    if source.tree in names:
        return str(source.tree)
    if source.tree is None and len(names) == 1:
        return names[0]
    there = known(names, source.tree or "")
    if source.tree is None:
        raise Problem(f"{source.path} has not one {what} but {len(names)}, {there}: say which, as in FILE:NAME.")
    raise Problem(f"{source.path} has no {what} {source.tree!r}; it has {there}.")


def _without_tree(source: Source, kind: str) -> None:
    if source.tree is not None:
        raise Problem(f"{source}: a {kind} file has no trees; leave out ':{source.tree}'.")
