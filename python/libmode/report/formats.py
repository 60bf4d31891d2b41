"""ROOT, Parquet, HDF5 and CSV files as tables of columns, read in chunks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from glob import glob
from pathlib import Path
from typing import Any, NamedTuple

from numpy.typing import NDArray

from .friends import Friends, friends
from .problem import Problem, known

CHUNK = 500_000  # entries: some megabytes for a column
BUFFER = 1 << 20  # bytes
BLOCKS = (
    "to_hdf of pandas joins columns in blocks: write the file by to_parquet, or by to_hdf with format='table' and "
    "data_columns=True"
)

Columns = Mapping[str, NDArray[Any]]


class Source(NamedTuple):
    """A file, and the tree, group or data set in it; None for the only one."""

    path: Path
    tree: str | None

    def __str__(self) -> str:
        return str(self.path) if self.tree is None else f"{self.path}:{self.tree}"


class Table(NamedTuple):
    """Columns of equal length."""

    columns: list[str]
    entries: int
    chunks: Callable[[list[str]], Iterator[Columns]]  #: the columns of these names
    unread: Sequence[str] = ()  #: why some columns are missing


def find(argument: str) -> list[Source]:
    """The files of FILE[:TREE], in alphabetical order; FILE may be a pattern, in which ``**`` means folders."""
    if "://" in argument:
        raise Problem(
            f"{argument!r} is on another machine: expected a file on this one; copy it, by xrdcp for instance."
        )
    before, _, tree = argument.rpartition(":")
    for name, inside in ((argument, None), (before, tree)):
        paths = [Path(name)] if name and Path(name).exists() else sorted(map(Path, glob(name, recursive=True)))
        files = [Source(path, inside) for path in paths if path.is_file()]
        if files:
            return files
        if paths:
            raise Problem(f"{name!r} is a directory: expected files, as in '{name.rstrip('/')}/*.root'.")
    raise Problem(f"there is no file {argument!r}.")


def opened(source: Source) -> AbstractContextManager[Table]:
    """The table of a file. Its first bytes tell the format; for CSV its name does."""
    with open(source.path, "rb") as file:
        head = file.read(8)
    if head.startswith(b"root"):
        return _root(source)
    if head == b"\x89HDF\r\n\x1a\n":
        return _hdf5(source)
    if head.startswith(b"PAR1"):
        return _parquet(source)
    if source.path.suffix.lower() in (".csv", ".txt", ".gz"):
        return _csv(source)
    raise Problem(f"{source.path} is not a ROOT, Parquet, HDF5 or .csv file.")


@contextmanager
def _root(source: Source) -> Iterator[Table]:
    import uproot

    with uproot.open(source.path) as file, ExitStack() as stack:
        kinds = file.classnames(cycle=False)
        names = [name for name, kind in kinds.items() if kind.startswith(("TTree", "TNtuple")) or "RNTuple" in kind]
        chosen = _chosen(source, names, "tree")
        tree = file[chosen]
        entries, is_tree = int(tree.num_entries), kinds[chosen].startswith("T")
        others = friends(source.path, chosen, entries, stack) if is_tree else Friends([], [])
        # The branch or field of each column. As in ROOT, a column hides one of a friend with the same name.
        places: dict[str, Any] = {}
        for alias, one in (("", tree), *others.trees):
            for key, place in [*one.items(full_paths=not is_tree), *one.items()]:
                places.setdefault(key, place)
                if alias:
                    places.setdefault(f"{alias}.{key}", place)

        def chunks(wanted: list[str]) -> Iterator[Columns]:
            for start in range(0, entries, CHUNK):
                part = {"entry_start": start, "entry_stop": min(start + CHUNK, entries), "library": "np"}
                yield {name: places[name].array(**part) for name in wanted}

        yield Table(list(places), entries, chunks, others.unread)


@contextmanager
def _parquet(source: Source) -> Iterator[Table]:
    """Missing values are NaN."""
    from pyarrow import parquet

    _without_tree(source)
    # By default pyarrow keeps all that it has read, and pyarrow.dataset reads ahead: memory would grow with the file.
    with parquet.ParquetFile(source.path, pre_buffer=False, buffer_size=BUFFER) as file:
        yield Table(
            file.schema_arrow.names,
            file.metadata.num_rows,
            lambda wanted: map(_columns, file.iter_batches(CHUNK, columns=wanted)),
        )


@contextmanager
def _csv(source: Source) -> Iterator[Table]:
    """Missing values are NaN. The file is read whole, so that all lines decide the type of a column."""
    from pyarrow import csv

    _without_tree(source)
    table = csv.read_csv(source.path)
    yield Table(
        table.column_names,
        len(table),
        lambda wanted: map(_columns, table.select(wanted).to_batches(max_chunksize=CHUNK)),
    )


def _without_tree(source: Source) -> None:
    if source.tree is not None:
        raise Problem(f"{source}: a Parquet or CSV file has no trees; leave out ':{source.tree}'.")


def _columns(batch: Any) -> Columns:
    """The columns of a RecordBatch of pyarrow. NumPy has no booleans, decimals and nulls that may be missing."""
    from pyarrow import types

    def column(values: Any) -> NDArray[Any]:
        of_objects = types.is_boolean(values.type) and values.null_count or types.is_decimal(values.type)
        numbers = values.cast("float64") if of_objects or types.is_null(values.type) else values
        return numbers.to_numpy(zero_copy_only=False)  # type: ignore[no-any-return]

    return dict(zip(batch.schema.names, map(column, batch.columns), strict=True))


@contextmanager
def _hdf5(source: Source) -> Iterator[Table]:
    """The data sets of a group, or the fields of a data set."""
    import h5py

    with h5py.File(source.path, "r") as file:
        tables: dict[str, dict[str, Any]] = {}
        unread: set[str] = set()

        def look(name: str, item: Any) -> None:
            unread.update([BLOCKS] if "pandas_type" in item.attrs else [])
            group, _, column = name.rpartition("/")
            if isinstance(item, h5py.Dataset) and item.ndim and "/_i_" not in name:  # an index of PyTables
                fields = item.dtype.names
                if fields:
                    tables[name] = {field: item.fields(field) for field in fields}
                else:
                    tables.setdefault(group or "/", {})[column] = item

        file.visititems(look)
        columns = tables[_chosen(source, list(tables), "group or data set")]

        def chunks(wanted: list[str]) -> Iterator[Columns]:
            lengths = [len(columns[name]) for name in wanted]
            if min(lengths) < max(lengths):
                raise Problem(f"{source}: the columns {', '.join(wanted)} have {lengths} entries: must be equal.")
            for start in range(0, lengths[0], CHUNK):
                yield {name: columns[name][start : start + CHUNK] for name in wanted}

        yield Table(list(columns), max(map(len, columns.values())), chunks, list(unread))


def _chosen(source: Source, names: list[str], what: str) -> str:
    """The name that the user gives, or the only one."""
    tree = source.tree and (source.tree.strip("/") or "/")
    if tree in names:
        return str(tree)
    there = known(names, tree or "")
    if tree is not None:
        raise Problem(f"{source.path} has no {what} {source.tree!r}; it has {there}.")
    if len(names) != 1:
        raise Problem(
            f"{source.path} has not one {what} but {len(names)}, {there}: say which, as in FILE:NAME, or name each of "
            "them so, FILE:NAME FILE:OTHER."
        )
    return names[0]
