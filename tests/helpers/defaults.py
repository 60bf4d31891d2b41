"""The defaults of all options, for the tests that an option given with its default is the option left out."""

import inspect
from typing import Any

from libmode._options import TAKEN

#: As docs/options.md has them; ``order`` has no default.
OF_MODE = {
    **{"bins": None, "binning": "quantile", "edges": None, "mass_range": None, "joint": False, "missing": "error"},
    **{"max_slope": None, "slope_of": "rejected", "monotonic": False, "moments": "projection", "unbiased": True},
    **{"slope_penalty": 0, "score_range": (0, 1), "reduction": "mean", "background_label": 0},
}
#: By loss.
DEFAULTS: dict[str, dict[str, Any]] = {
    loss: {name: OF_MODE[name] for name in names if name != "order"} for loss, names in TAKEN.items()
}
DEFAULTS["disco"]["unbiased"] = False


def of_signature(function: Any) -> dict[str, Any]:
    """The arguments of a function or class that have a default, with it."""
    parameters = inspect.signature(function).parameters.values()
    return {one.name: one.default for one in parameters if one.default is not inspect.Parameter.empty}
