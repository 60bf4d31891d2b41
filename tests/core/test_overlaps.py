"""An output of a C function over an input, or over another output, is an error, and writes nothing: each pair."""

import ctypes

import numpy as np
import pytest
from libmode import _native

N = 64
RNG = np.random.default_rng(4)


SIZE = 4_096  # of each array, so that one in the place of another reaches no third


def arguments():
    """The arrays of all functions, by their names in errors; integers are 0, as the doubles in their place."""
    names = "label category background_label state grad hess push multiplier slope grad_x grad_y edges cdf moments"
    names += " bounded loss value result constraint table"
    drawn = {name: RNG.random(SIZE) for name in ("score", "mass", "weight", "x", "y", "at")}
    return drawn | {name: np.zeros(SIZE) for name in names.split()}


EVENTS = ("score", "label", "mass", "weight", "category", "background_label")
# The inputs and outputs of each function; the state of a direction is both.
FUNCTIONS = {
    "loss": (EVENTS[:-2], ("grad", "loss")),
    "evaluate": (EVENTS, ("grad", "hess", "result")),
    "flatness": (EVENTS, ("grad", "result")),
    "constraint_push": ((*EVENTS, "constraint"), ("state", "push", "multiplier", "slope", "result")),
    "distance_correlation": (("x", "y", "weight"), ("grad_x", "grad_y", "value")),
    "table": ((*(set(EVENTS) - {"category"}), "at"), ("edges", "cdf", "moments", "bounded", "table")),
}
PAIRS = [
    (function, output, other)
    for function, (inputs, outputs) in FUNCTIONS.items()
    for k, output in enumerate(outputs)
    for other in (*inputs, *outputs[:k])
    if (output, other) != ("result", "constraint")  # whose sizes then are wrong
]


def of_function(function, array):
    """The structs of a call by the names of their arguments, which have the addresses in ``array``."""
    native = _native
    if function in ("evaluate", "flatness"):
        hess = array["hess"] if function == "evaluate" else None
        found = native.ModeResult(0, array["grad"], hess, 0.0, function == "evaluate")
        return {"result": found}
    if function == "constraint_push":
        size = native.state_size(1, 1)
        constraint = native.ModeSteering(state=array["state"], n_state=size, categories=1)
        return {
            "constraint": constraint,
            "result": native.ModePushed(0, array["push"], array["multiplier"], array["slope"]),
        }
    if function == "table":
        wanted = {name: array[name] for name in ("at", "edges", "cdf", "moments", "bounded")}
        return {"table": native.ModeTable(n_at=N, capacity=N, **wanted)}
    return {}


def call(function, arrays, array):
    """The status and the message of a call with the addresses in ``array``."""
    library = _native.library()
    options = _native.default_options()
    options.order, options.bins, options.n_background_label = int(function != "flatness"), 4, 1
    options.background_label = ctypes.cast(array["background_label"], ctypes.POINTER(ctypes.c_int32))
    masses = (ctypes.c_void_p * 1)(array["mass"])
    has_category = function in ("evaluate", "flatness", "constraint_push")
    events = _native.ModeEvents(
        ctypes.sizeof(_native.ModeEvents), N, array["score"], array["label"],
        ctypes.cast(masses, ctypes.POINTER(ctypes.c_void_p)), 1, array["weight"],
        array["category"] if has_category else None, 3, 3,
    )  # fmt: skip
    run = getattr(library, f"mode_{function}_f64")
    if function == "loss":
        given = (array[name] for name in ("score", "label", "mass", "weight"))
        run.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_void_p] * 6]
        status = run(None, N, *given, array["loss"], array["grad"])
    elif function == "distance_correlation":
        value = ctypes.cast(array["value"], ctypes.POINTER(ctypes.c_double))
        status = run(N, array["x"], array["y"], array["weight"], 0, value, array["grad_x"], array["grad_y"])
    else:
        structs = of_function(function, array)
        for name, struct in structs.items():
            struct.struct_size = ctypes.sizeof(struct)
            ctypes.memmove(array[name], ctypes.addressof(struct), ctypes.sizeof(struct))
        kinds = {name: ctypes.POINTER(type(struct)) for name, struct in structs.items()}
        status = run(options, events, *(ctypes.cast(array[name], kind) for name, kind in kinds.items()))
    return status, library.mode_last_error().decode()


def prepared():
    """Arrays and their addresses."""
    arrays = arguments()
    return arrays, {name: array.ctypes.data for name, array in arrays.items()}


@pytest.mark.parametrize("function", FUNCTIONS)
def test_arrays_that_are_apart(function):
    arrays, addresses = prepared()
    before = {name: array.copy() for name, array in arrays.items()}
    status, message = call(function, arrays, addresses)
    assert status == 0, message
    changed = {name for name, array in arrays.items() if not np.array_equal(array, before[name])}
    assert changed - {"constraint"} == set(FUNCTIONS[function][1])


@pytest.mark.parametrize(("function", "output", "other"), PAIRS)
def test_an_output_over_another_argument(function, output, other):
    arrays, addresses = prepared()
    if output in of_function(function, addresses):
        addresses[other] = addresses[output] + 8  # behind the size of the struct
    elif output == "state" and other == "constraint":
        addresses["state"] = addresses[other]
    else:
        addresses[output] = addresses[other]
    ours = set(of_function(function, addresses))  # which the call above writes
    before = {name: array.copy() for name, array in arrays.items() if name not in ours}
    status, message = call(function, arrays, addresses)
    assert (status, f"{output} overlaps {other} in memory" in message) == (1, True), message
    for name, array in before.items():
        assert np.array_equal(arrays[name], array), name
