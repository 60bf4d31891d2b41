"""Finds, loads and calls libmode.so, by ctypes.

The first call loads the library, not the import. A forked process cannot use its parent's copy, whose Go threads are
gone. It loads a fresh copy of the file, from memory or from a temporary directory.
"""

from __future__ import annotations

import ctypes
import os
import sys
import tempfile
import threading
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple

from ._interruptible import LARGE, interruptible
from ._messages import Fault
from ._read import whole

ABI_VERSION = 4

_NAME = "libmode." + {"win32": "dll", "darwin": "dylib"}.get(sys.platform, "so")


class BatchError(ValueError):
    """The selected events of a call have no loss, for instance because they are too few. Another batch may have one.

    A module with ``on_bad_batch="skip"`` skips batches with this error only.

    Examples
    --------
    >>> import libmode
    >>> try:
    ...     libmode.mode_loss([0.2, 0.7], [80, 90], label=[1, 1], order=0)
    ... except libmode.BatchError as error:
    ...     print(error)
    no event selected: none of the 2 values of label equals background_label = 0; ...
    """


# By the status codes of mode.h: errors of the selected events as a whole, and errors that the caller did not make.
_ERRORS: dict[int, type[Exception]] = {
    **dict.fromkeys((5, 6, 10), BatchError),  # MODE_ERROR_TOO_FEW_EVENTS, MODE_ERROR_BIN, MODE_ERROR_UNDEFINED
    **dict.fromkeys((8, 9), RuntimeError),  # MODE_ERROR_FORKED, MODE_ERROR_INTERNAL
    11: ImportError,  # MODE_ERROR_MEMORY, of the first call
}


_double, _int32, _size = ctypes.c_double, ctypes.c_int32, ctypes.c_size_t
_address = ctypes.c_void_p  # of an array: an integer, or None for NULL
_doubles = ctypes.POINTER(_double)
_TYPES: dict[str, Any] = {
    **{"size": _size, "int32": _int32, "int64": ctypes.c_int64, "double": _double, "range": _double * 2},
    **{"address": _address, "doubles": _doubles, "addresses": ctypes.POINTER(_address)},
    **{"text": ctypes.c_char_p, "texts": ctypes.POINTER(ctypes.c_char_p)},
}


def _struct(name: str, members: str) -> type[ctypes.Structure]:
    """A struct of mode.h, from its members as in C, between its size and the room for later versions."""
    groups = (group.split() for group in members.split(";"))
    fields = [(member.strip(","), _TYPES[kind]) for kind, *names in groups for member in names]
    every = [("struct_size", _size), *fields, ("reserved", ctypes.c_uint64 * 4)]
    return type(name, (ctypes.Structure,), {"_fields_": every})


class ModeOptions(ctypes.Structure):
    """``mode_options`` of mode.h. The table of the loaded library has its members."""


# The structs of both forms of a function, for float and for double, have the same members.
ModeVariable = _struct("mode_variable", "int32 bins; range mass_range; doubles edges; size n_edges")
ModeEvents = _struct(
    "mode_events",
    "size n; address score, label; addresses mass; size n_mass; address weight, category; "
    "int32 label_type, category_type",
)
ModeError = _struct("mode_error", "int32 status, advice; int64 place; size name_at, name_end, advice_at")
ModeResult = _struct("mode_result", "address grad, hess; double smoothing; int32 quality; double loss, bias, events")
ModeTable = _struct(
    "mode_table", "size n_at; address at; size capacity; address edges, cdf, moments, bounded; size n_bins"
)
ModeStrength = _struct("mode_strength", "double strength, factor; size batch; address averages; double scale")
ModeConstraint = _struct(
    "mode_constraint",
    "double strength, floor, training_events; address state; size n_state, batch; int32 logits, categories",
)
ModeRows = _struct("mode_rows", "address push, multiplier, slope, part, lesson")
_Row = _struct("mode_option", "text name; int32 kind; size offset; texts values; size n_values; double none")

# The type of each kind of option, in the order of MODE_KIND_...; the length of a list follows it.
_KINDS: list[Any] = [*[_int32] * 3, _double, _double * 2, _doubles]
_KINDS += [ctypes.POINTER(_int32), ctypes.POINTER(ModeVariable)]
FLAG, RANGE, NUMBERS, LABELS, VARIABLES = 1, 4, 5, 6, 7


class Option(NamedTuple):
    """An option in the table of the library."""

    kind: int  #: MODE_KIND_... of mode.h
    values: tuple[str, ...]  #: the names of a choice, by number
    none: float  #: the value of an integer or a number that is left out or has no limit; NaN if there is none


#: The options of the library, by name; empty until it is loaded.
OPTIONS: dict[str, Option] = {}


#: MODE_LABEL_... of mode.h, by the name of the type of the labels in NumPy and PyTorch.
LABEL_TYPES = {"int32": 0, "int8": 1, "uint8": 2, "bool": 2, "int64": 3, "float32": 4, "float64": 5}

_pointer = ctypes.POINTER
_of_events = [_pointer(ModeOptions), _pointer(ModeEvents)]
# The arguments of functions with a form for float and a form for double.
_OF_BOTH: dict[str, list[Any]] = {
    "mode_evaluate": [*_of_events, _pointer(ModeResult)],
    "mode_constraint_push": [*_of_events, _pointer(ModeConstraint), _pointer(ModeRows)],
    "mode_constraint_apply": [_size, _pointer(ModeRows), *[_address] * 3, _size, _address],
    "mode_strengthen": [*_of_events, _pointer(ModeStrength), _address],
    "mode_distance_correlation": [_size, *[_address] * 3, ctypes.c_int, _doubles, _address, _address],
}

_SIGNATURES: dict[str, list[Any]] = {
    "mode_option_count": [_pointer(_size)],
    "mode_option_at": [_size, _pointer(_Row)],
    "mode_options_init": [_pointer(ModeOptions), _size],
    "mode_options_check": [_pointer(ModeOptions)],
    "mode_variable_init": [_pointer(ModeVariable), _size],
    **{f"{name}_{kind}": signature for name, signature in _OF_BOTH.items() for kind in ("f32", "f64")},
    "mode_table_f64": [*_of_events, _pointer(ModeTable)],
    "mode_state_size": [_size, _size, _pointer(_size)],
    "mode_state_check": [_address, _size, _size, _size],
    "mode_last_error_parts": [_pointer(ModeError)],
    "mode_set_threads": [ctypes.c_int],
}

_library: ctypes.CDLL | None = None
_loading = threading.Lock()
_dead_copies = 0  # of the library, which the parents of this process had loaded before a fork
_threads = 0


def _after_fork_in_child() -> None:
    global _library, _loading, _dead_copies
    _dead_copies += _library is not None
    _library = None
    _loading = threading.Lock()  # a thread that is gone may hold the old one


if hasattr(os, "register_at_fork"):  # not on Windows
    os.register_at_fork(after_in_child=_after_fork_in_child)


def library() -> ctypes.CDLL:
    """The loaded library."""
    global _library
    if _library is None:
        with _loading:
            if _library is None:
                _library = _load()
    return _library


def _candidates() -> list[Path]:
    """The places of the library: in this package, or where ./build.sh install --prefix puts it for this Python."""
    override = os.environ.get("LIBMODE_LIBRARY")
    if override:
        return [Path(override)]
    return [Path(__file__).parent / "lib" / _NAME, Path(sys.prefix) / "lib" / _NAME]


def _load() -> ctypes.CDLL:
    tried = []
    for path in _candidates():
        try:
            loaded = _open_copy(path) if _dead_copies else ctypes.CDLL(os.fspath(path.resolve()))
        except OSError as error:
            tried.append(f"  {path}: {_reason(path, error)}")
        else:
            _declare(loaded, path)
            _check(loaded, loaded.mode_set_threads(_threads))
            _read_options(loaded)
            return loaded
    raise ImportError(
        f"libmode: cannot load the library {_NAME}; tried\n" + "\n".join(tried) + "\n"
        f"Set LIBMODE_LIBRARY to the path of a {_NAME}, reinstall libmode, or, in a source tree, run ./build.sh lib"
    )


def _reason(path: Path, error: OSError) -> str:
    archive = next((parent for parent in path.parents if parent.is_file()), None)
    if archive:
        return f"{archive} is a file, and a library cannot be loaded from inside an archive: install libmode beside it"
    # The loader's message repeats the path.
    return str(error).removeprefix(f"{path.resolve()}: ")


def _open_copy(path: Path) -> ctypes.CDLL:
    """Loads a copy of the file, which gets a Go runtime of its own."""
    content = path.read_bytes()
    failures = []
    for open_copy in (_open_in_memory, _open_in_temporary_directory):
        try:
            return open_copy(content)
        except OSError as error:
            failures.append(str(error))
    raise OSError(
        "this process was forked from one that had loaded libmode, so it needs a copy of the library, which cannot be "
        f"loaded from memory ({failures[0]}) nor from a temporary directory ({failures[1]}): set TMPDIR to a directory "
        "where files may be written and executed, or start the process by spawn instead of fork"
    )


def _open_in_memory(content: bytes) -> ctypes.CDLL:
    if not hasattr(os, "memfd_create"):
        raise OSError("only Linux can")
    descriptor = os.memfd_create("libmode")
    try:
        with open(descriptor, "wb", closefd=False) as file:
            file.write(content)
        # The loader returns the dead copy for a path that it knows, so every copy has another number of "./".
        return ctypes.CDLL(f"/proc/self/{'./' * _dead_copies}fd/{descriptor}")
    finally:
        os.close(descriptor)


def _open_in_temporary_directory(content: bytes) -> ctypes.CDLL:
    with tempfile.TemporaryDirectory(prefix="libmode-") as directory:
        path = Path(directory, _NAME)
        path.write_bytes(content)
        return ctypes.CDLL(os.fspath(path))


def _declare(loaded: ctypes.CDLL, path: Path) -> None:
    try:
        abi = loaded.mode_abi_version()
    except AttributeError:
        raise ImportError(f"libmode: {path} is not libmode: it has no function mode_abi_version") from None
    if abi != ABI_VERSION:
        raise ImportError(
            f"libmode: {path} has ABI version {abi}, but the Python package {Path(__file__).parent} needs "
            f"{ABI_VERSION}: install both from the same release"
        )
    loaded.mode_last_error.restype = loaded.mode_version.restype = ctypes.c_char_p
    for name, signature in _SIGNATURES.items():
        function = getattr(loaded, name)
        function.argtypes = signature
        function.restype = ctypes.c_int


def _read_options(loaded: ctypes.CDLL) -> None:
    if OPTIONS:  # a forked child has loaded the same library again
        return
    members: list[tuple[str, Any]] = [("struct_size", _size)]
    count = _size()
    _check(loaded, loaded.mode_option_count(count))
    for k in range(count.value):
        row = _Row(ctypes.sizeof(_Row))
        _check(loaded, loaded.mode_option_at(k, row))
        name = row.name.decode()
        members.append((name, _KINDS[row.kind]))
        if row.kind in (NUMBERS, LABELS, VARIABLES):
            members.append((f"n_{name}", _size))
        values = tuple(row.values[i].decode() for i in range(row.n_values))
        OPTIONS[name] = Option(row.kind, values, row.none)
    ModeOptions._fields_ = [*members, ("reserved", ctypes.c_uint64 * 8)]


def _check(loaded: ctypes.CDLL, status: int) -> None:
    if status:
        text, parts = loaded.mode_last_error(), ModeError(ctypes.sizeof(ModeError))
        loaded.mode_last_error_parts(parts)
        place = None if parts.place < 0 else parts.place
        rest = parts.name_end if place is None else text.index(b"]", parts.name_end) + 1
        pieces = text[: parts.name_at], text[parts.name_at : parts.name_end], text[rest : parts.advice_at]
        before, name, after = (piece.decode("utf-8", "replace") for piece in pieces)
        raise Fault(name, place, after, before, parts.advice).error(_ERRORS.get(status, ValueError))


def address(array: Any) -> int | None:
    """The address of the first element of a contiguous array."""
    if array is None:
        return None
    if array.size and array.flags.writeable:  # three times as fast as the interface below
        return ctypes.addressof(ctypes.c_char.from_buffer(array))
    start: int = array.__array_interface__["data"][0]
    return start


def call(name: str, *arguments: Any) -> None:
    """Calls the function of mode.h with this name, and raises its error."""
    loaded = library()
    _check(loaded, getattr(loaded, name)(*arguments))


def default_options() -> ModeOptions:
    """A ``ModeOptions`` with the defaults of the core."""
    library()  # its table has the members
    options = ModeOptions()
    call("mode_options_init", options, ctypes.sizeof(options))
    return options


def call_with(name: str, double: bool, n: int, held: tuple[object, ...], *arguments: Any) -> None:
    """Calls the form of a function for n events in double or float, and raises its error.

    ``held`` are the objects whose memory the call uses. After an interrupt of the caller, a long call goes on.
    """
    if n >= LARGE:  # both calls in the same other thread: the library keeps an error for the thread of the call
        interruptible(partial(call_with, name, double, 0, held, *arguments), *held)
        return
    loaded = _library or library()
    function = getattr(loaded, f"{name}_f64" if double else f"{name}_f32")
    status = function(*arguments)
    if status:
        _check(loaded, status)


@cache
def state_size(labels: int, categories: int = 0) -> int:
    """The length of the state of a constraint."""
    size = _size()
    call("mode_state_size", labels, categories, size)
    return size.value


def set_threads(threads: int) -> None:
    """Limits the threads that one call may use; 0 restores the default, all available.

    It holds for the whole process and its forked children. Results are identical, bit for bit, for any number.

    Parameters
    ----------
    threads : int, at least 0
        More than 1024 count as 1024. Small inputs always use one thread.

    Raises
    ------
    ValueError, TypeError
        If ``threads`` is below 0, or is no integer.

    Examples
    --------
    >>> import libmode
    >>> libmode.set_threads(1)
    >>> print(f"{libmode.mode_loss([0.2, 0.7, 0.4, 0.5], [80, 90, 120, 130], order=0, bins=2):.4f}")
    -0.0125
    >>> libmode.set_threads(0)
    """
    global _threads
    call("mode_set_threads", whole("threads", threads))
    _threads = threads
