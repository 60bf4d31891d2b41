"""Long calls of the core, which Ctrl-C interrupts."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeVar

Result = TypeVar("Result")

#: From this number of events on, a call takes 50 ms and more, so the time for a thread of its own does not matter.
LARGE = 1 << 22

#: Seconds between two looks for an interrupt. They are needed where an interrupt does not end the waiting: just before
#: it begins, if another thread gets the signal, and on Windows.
LOOK = 0.1


def interruptible(call: Callable[[], Result], *held: object) -> Result:
    """``call()`` in a thread of its own, so that an interrupt ends the waiting; ``held`` lives until the call ends."""
    if threading.current_thread() is not threading.main_thread():  # Python interrupts the main thread alone
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
