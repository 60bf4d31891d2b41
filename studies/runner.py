"""Runs long work in pieces: in parallel, with the time left, and again from the point of an interruption."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from tqdm import tqdm


@dataclass(frozen=True)
class Piece:
    """A piece of work with one file of results.

    key : names its file of results
    setting : everything that determines the result, as JSON; the work is done again if it changes
    argument : what the function that does the work gets
    seconds : that it takes on one core, about
    """

    key: str
    setting: dict[str, Any]
    argument: Any
    seconds: float


def run(
    pieces: Sequence[Piece], work: Callable[[Any], dict[str, Any]], directory: Path, processes: int
) -> dict[str, dict[str, Any]]:
    """Returns the results of all pieces by key, and computes only pieces without a result in ``directory``.

    ``work`` is a function of a module, since each process imports it, and should use
    one thread. Interrupted by Ctrl-C, or by the end of a job (SIGTERM), this keeps what is finished.
    """
    directory.mkdir(parents=True, exist_ok=True)
    left = [piece for piece in pieces if _finished(directory, piece) is None]
    print(f"{len(pieces) - len(left)} of {len(pieces)} pieces lie in {directory}")

    def store(piece: Piece, result: dict[str, Any]) -> None:
        _write(directory / f"{piece.key}.json", {"setting": piece.setting, "result": result})

    compute(left, work, store, processes)
    found = {piece.key: _finished(directory, piece) for piece in pieces}
    return {key: result for key, result in found.items() if result is not None}


def compute(
    pieces: Sequence[Piece],
    work: Callable[[Any], dict[str, Any]],
    store: Callable[[Piece, dict[str, Any]], None],
    processes: int,
) -> None:
    """Does the work of all pieces, and calls ``store`` with each result as it comes."""
    total = sum(piece.seconds for piece in pieces)
    print(
        f"{len(pieces)} pieces to do, about {total / 60 / processes:.0f} minutes on {processes} processes; "
        "interrupt at will, the same command goes on",
        flush=True,
    )
    # Without this, the end of this process would leave the pool's processes waiting for ever.
    terminate = signal.signal(signal.SIGTERM, signal.default_int_handler)
    # Not fork, which libraries with threads do not survive.
    with (
        ProcessPoolExecutor(processes, get_context("spawn"), initializer=_leave_interrupts_to_parent) as pool,
        tqdm(total=round(total), unit="s", desc="of work", disable=not pieces) as progress,
    ):
        futures = {pool.submit(work, piece.argument): piece for piece in sorted(pieces, key=lambda p: -p.seconds)}
        try:
            for future in as_completed(futures):
                piece = futures[future]
                store(piece, future.result())
                progress.set_postfix_str(piece.key)
                progress.update(round(piece.seconds))
        except BaseException:
            workers = list(pool._processes.values())
            pool.shutdown(wait=False, cancel_futures=True)
            for worker in workers:
                worker.terminate()
            raise
        finally:
            signal.signal(signal.SIGTERM, terminate)


def _finished(directory: Path, piece: Piece) -> dict[str, Any] | None:
    path = directory / f"{piece.key}.json"
    if not path.exists():
        return None
    stored: Mapping[str, Any] = json.loads(path.read_text())
    return stored["result"] if stored["setting"] == json.loads(json.dumps(piece.setting)) else None


def _write(path: Path, content: dict[str, Any]) -> None:
    """Writes the whole file, or nothing."""
    new = path.with_suffix(".new")
    new.write_text(json.dumps(content) + "\n")
    os.replace(new, path)


def _leave_interrupts_to_parent() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
