"""Long calls of the core, for which Ctrl-C need not wait."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeVar

Result = TypeVar("Result")

#: A number of events from which on a call takes so long, 50 ms and more, that a thread of its own costs nothing.
LARGE = 1 << 22

#: Seconds between two looks for an interrupt. One that comes just before the waiting begins, or that
#: another thread is given, does not end the waiting by itself; on Windows none does.
LOOK = 0.1


def interruptible(call: Callable[[], Result], *held: object) -> Result:
    """``call()`` in a thread of its own, so that an interrupt ends the waiting; ``held`` lives until the call ends."""
    if threading.current_thread() is not threading.main_thread():  # which alone is interrupted
        return call()
    results: list[Result] = []
    errors: list[BaseException] = []

    started = threading.Lock()

    def work(held: object = held) -> None:
        with started:  # an interrupt while a thread starts can be a RuntimeError of threading
            pass
        try:
            results.append(call())
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=work, name="libmode", daemon=True)
    with started:
        thread.start()
    while thread.is_alive():
        thread.join(LOOK)
    if errors:
        raise errors[0]
    return results[0]
