"""Finds, loads and calls libmode.so, by ctypes.

The first call loads the library, not the import. A forked process cannot use its parent's copy, whose Go threads are
gone. It loads a fresh copy of the file, from a temporary directory.
"""

from __future__ import annotations

import ctypes
import os
import struct
import sys
import tempfile
import threading
import weakref
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

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


_size, _int32, _double, _text = ctypes.c_size_t, ctypes.c_int32, ctypes.c_double, ctypes.c_char_p
_address = ctypes.c_void_p  # of an array or a handle: an integer, or None for NULL
_KINDS = {"size": _size, "int32": _int32, "int64": ctypes.c_int64, "double": _double, "address": _address}


def _struct(name: str, members: str) -> type[ctypes.Structure]:
    """A struct of mode.h, from its members as in C. The first one is its size."""
    groups = (group.split() for group in members.split(";"))
    fields = [(member.strip(","), _KINDS[kind]) for kind, *names in groups for member in names]
    return type(name, (ctypes.Structure,), {"_fields_": [("size", _size), *fields]})


# size, n; dtype, label_type, category_type, n_mass; score, mass, label, weight, category; batch. To fill a Structure of
# ctypes takes three times as long.
ModeEvents = struct.Struct("2N 4i 5P N")
ModeResult = _struct(
    "mode_result", "double loss, bias, events; int32 quality; double smoothing; address hess, averages"
)
ModeTable = _struct(
    "mode_table", "size n_at; address at; size capacity; address edges, cdf, moments, bounded; size n_bins"
)
_Error = _struct("mode_error", "int32 status, advice; int64 place; size name_at, name_end, advice_at")

#: The types of mode.h, by their names in NumPy and PyTorch.
TYPES = {"int32": 0, "float32": 1, "float64": 2, "int64": 3, "int8": 4, "uint8": 5, "bool": 5}
FLOAT, DOUBLE = TYPES["float32"], TYPES["float64"]

_pointer = ctypes.POINTER
_SIGNATURES: dict[str, list[Any]] = {
    "mode_new": [_text],
    "mode_text": [_address],
    "mode_free": [_address],
    "mode_loss": [_address, _text, _pointer(ModeResult), _address],
    "mode_push_rows": [_address, _text, *[_address] * 3],
    "mode_push_apply": [_size, _int32, _address, _address, _size, *[_address] * 4],
    "mode_state_size": [_address],
    "mode_state_check": [_address, _address],
    "mode_table_of": [_address, _text, _pointer(ModeTable)],
    "mode_distance_correlation": [_size, _int32, *[_address] * 3, ctypes.c_int, _pointer(_double), _address, _address],
    "mode_options_table": [],
    "mode_last_error": [],
    "mode_last_error_parts": [_pointer(_Error)],
    "mode_set_threads": [ctypes.c_int],
    "mode_version": [],
}
_RESULTS: dict[str, Any] = {
    **{"mode_new": _address, "mode_free": None, "mode_state_size": _size},
    **dict.fromkeys(("mode_text", "mode_options_table", "mode_last_error", "mode_version"), _text),
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


def _load() -> ctypes.CDLL:
    given, tried = os.environ.get("LIBMODE_LIBRARY"), []
    # In this package, or where ./build.sh install --prefix puts it for this Python.
    places = [Path(__file__).parent / "lib" / _NAME, Path(sys.prefix) / "lib" / _NAME]
    for path in [Path(given)] if given else places:
        try:
            loaded = _open_copy(path) if _dead_copies else ctypes.CDLL(os.fspath(path.resolve()))
        except OSError as error:
            tried.append(f"  {path}: {str(error).removeprefix(f'{path.resolve()}: ')}")  # the loader repeats the path
        else:
            _declare(loaded, path)
            _check(loaded, loaded.mode_set_threads(_threads))
            return loaded
    raise ImportError(
        f"libmode: cannot load the library {_NAME}; tried\n" + "\n".join(tried) + "\n"
        f"Set LIBMODE_LIBRARY to the path of a {_NAME}, reinstall libmode, or, in a source tree, run ./build.sh lib"
    )


def _open_copy(path: Path) -> ctypes.CDLL:
    """Loads a copy of the file, which gets a Go runtime of its own."""
    content = path.read_bytes()
    try:
        with tempfile.TemporaryDirectory(prefix="libmode-") as directory:
            copy = Path(directory, _NAME)
            copy.write_bytes(content)
            return ctypes.CDLL(os.fspath(copy))
    except OSError as error:
        raise OSError(
            "this process was forked from one that had loaded libmode, so it needs a copy of the library, which cannot "
            f"be loaded from a temporary directory ({error}): set TMPDIR to a directory where files may be written "
            "and executed, or start the process by spawn instead of fork"
        ) from None


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
    for name, signature in _SIGNATURES.items():
        function = getattr(loaded, name)
        function.argtypes, function.restype = signature, _RESULTS.get(name, ctypes.c_int)


def _check(loaded: ctypes.CDLL, failed: Any) -> None:
    if failed:
        text, parts = loaded.mode_last_error(), _Error(ctypes.sizeof(_Error))
        loaded.mode_last_error_parts(parts)
        place = None if parts.place < 0 else parts.place
        rest = parts.name_end if place is None else text.index(b"]", parts.name_end) + 1
        pieces = text[: parts.name_at], text[parts.name_at : parts.name_end], text[rest : parts.advice_at]
        before, name, after = (piece.decode("utf-8", "replace") for piece in pieces)
        raise Fault(name, place, after, before, parts.advice).error(_ERRORS.get(parts.status, ValueError))


def address(array: Any) -> int | None:
    """The address of the first element of a contiguous array."""
    if array is None:
        return None
    if array.size and array.flags.writeable:  # three times as fast as the interface below
        return ctypes.addressof(ctypes.c_char.from_buffer(array))
    start: int = array.__array_interface__["data"][0]
    return start


def call(name: str, of: Handle | None, *arguments: Any) -> None:
    """Calls the function of mode.h with this name, for a handle or without, and raises its error."""
    loaded = _library or library()
    if of is not None:
        arguments = of.address if of.made_by is loaded else of.renewed(), *arguments
    if getattr(loaded, name)(*arguments):
        _check(loaded, True)


class Handle:
    """Options of mode.h for the loaded library: a forked child, which loads another one, makes a new handle.

    ``text`` are the options as the library says them, and ``state_size`` is the length of the state of a layer.
    ValueError if they are wrong.
    """

    def __init__(self, text: str) -> None:
        self._given = text.encode()
        self.text: str = library().mode_text(self.renewed()).decode()
        self.state_size: int = library().mode_state_size(self.address)
        _check(library(), not self.state_size)

    def renewed(self) -> int:
        """The handle of the library, made now."""
        loaded = library()
        handle: int = loaded.mode_new(self._given)
        _check(loaded, not handle)
        weakref.finalize(self, loaded.mode_free, handle).atexit = False
        self.made_by, self.address = loaded, handle
        return handle


class Row(NamedTuple):
    """An option in the table of the core, as text."""

    kind: str  #: integer, flag, choice, number, range, numbers or labels
    default: str
    allowed: str


@cache
def options_table() -> dict[str, Row]:
    """The options of the core by name."""
    rows = (line.split("\t") for line in library().mode_options_table().decode().splitlines())
    return {name: Row(*row) for name, *row in rows}


def set_threads(threads: int) -> None:
    """Limits the threads that one call may use; 0 restores the default, all available.

    It holds for the whole process and its forked children. Results are identical, bit for bit, for any number. More
    than 1024 ``threads`` count as 1024, and small inputs use one. ValueError or TypeError for other values.

    Examples
    --------
    >>> import libmode
    >>> print(libmode.set_threads(1))
    None
    >>> libmode.set_threads(0)
    """
    global _threads
    call("mode_set_threads", None, whole("threads", threads))
    _threads = threads
