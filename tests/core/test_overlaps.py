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
    names += " bounded loss value n_edges n_bins quality found constraint"
    drawn = {name: RNG.random(SIZE) for name in ("score", "mass", "weight", "x", "y", "at")}
    return drawn | {name: np.zeros(SIZE) for name in names.split()}


EVENTS = ("score", "label", "mass", "weight", "category", "background_label")
# The inputs and outputs of each function; the state of a direction is both.
FUNCTIONS = {
    "evaluate": (EVENTS, ("grad", "hess", "loss", "quality")),
    "flatness": (EVENTS, ("grad", "loss")),
    "constraint_push": ((*EVENTS, "constraint"), ("state", "push", "multiplier", "slope", "found")),
    "distance_correlation": (("x", "y", "weight"), ("grad_x", "grad_y", "value")),
    "edges": (tuple(set(EVENTS) - {"category", "score"}), ("edges", "n_edges")),
    "moments": ((*(set(EVENTS) - {"category"}), "at"), ("cdf", "moments", "bounded", "n_bins")),
}
PAIRS = [
    (function, output, other)
    for function, (inputs, outputs) in FUNCTIONS.items()
    for k, output in enumerate(outputs)
    for other in (*inputs, *outputs[:k])
    if (output, other) != ("found", "constraint")  # whose sizes then are wrong
]


STRUCTS = {"quality": _native.ModeQuality, "found": _native.ModePushed, "constraint": _native.ModeSteering}


def call(function, arrays, array):
    """The status and the message of a call with the addresses in ``array``."""
    library = _native.library()
    constraint = _native.ModeSteering.from_buffer(arrays["constraint"])
    constraint.state, constraint.n_state, constraint.categories = array["state"], library.mode_state_size(1, 1), 1
    options = _native.ModeOptions()
    _native._check(library, library.mode_options_init(options, ctypes.sizeof(options)))
    options.order, options.bins, options.n_background_label = 1, 4, 1
    options.background_label = ctypes.cast(array["background_label"], ctypes.POINTER(ctypes.c_int32))
    masses = (ctypes.c_void_p * 1)(array["mass"])
    has_category = function in ("evaluate", "flatness", "constraint_push")
    events = _native.ModeEvents(
        ctypes.sizeof(_native.ModeEvents), N, array["score"], array["label"],
        ctypes.cast(masses, ctypes.POINTER(ctypes.c_void_p)), 1, array["weight"],
        array["category"] if has_category else None, 3, 3,
    )  # fmt: skip

    def pointer(name, kind=ctypes.c_double):
        return ctypes.cast(array[name], ctypes.POINTER(kind))

    run = getattr(library, f"mode_{function}_f64")
    if function == "evaluate":
        quality = pointer("quality", _native.ModeQuality)
        status = run(options, events, pointer("loss"), array["grad"], quality, 0.0, array["hess"])
    elif function == "flatness":
        options.order = 0
        status = run(options, events, pointer("loss"), array["grad"])
    elif function == "constraint_push":
        constraint, found = pointer("constraint", _native.ModeSteering), pointer("found", _native.ModePushed)
        status = run(options, events, constraint, found, array["push"], array["multiplier"], array["slope"])
    elif function == "distance_correlation":
        results = pointer("value"), array["grad_x"], array["grad_y"]
        status = run(N, array["x"], array["y"], array["weight"], 0, *results)
    elif function == "edges":
        status = run(options, events, N, array["edges"], pointer("n_edges", ctypes.c_size_t))
    else:
        count = pointer("n_bins", ctypes.c_size_t)
        rest = count, array["moments"], array["bounded"]
        status = run(options, events, N, array["at"], N * N, array["cdf"], *rest)
    return status, library.mode_last_error().decode()


def prepared():
    """Arrays and their addresses, with structs that have their sizes."""
    arrays = arguments()
    for name, kind in STRUCTS.items():
        kind.from_buffer(arrays[name]).struct_size = ctypes.sizeof(kind)
    addresses = {name: array.ctypes.data for name, array in arrays.items()}
    return arrays, addresses


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
    if output in STRUCTS:
        addresses[other] = addresses[output] + 8  # behind the size of the struct
    elif output == "state" and other in STRUCTS:
        addresses["state"] = addresses[other]
    else:
        addresses[output] = addresses[other]
    before = {name: array.copy() for name, array in arrays.items() if name != "constraint"}
    status, message = call(function, arrays, addresses)
    assert (status, f"{output} overlaps {other} in memory" in message) == (1, True), message
    for name, array in before.items():
        assert np.array_equal(arrays[name], array), name
