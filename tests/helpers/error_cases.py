"""Every error that a loss can raise: the input that makes it, its kind and its sentence. One table for all bindings.

Tests run it through NumPy (tests/core/test_error_table.py), PyTorch,
JAX, Keras on each backend, and C; the first of them also reads the sources, and fails for an error there that
no case makes.

The input of a case is Python, or for ``C_CASES`` C, that spoils the arguments of :func:`good`.
"""

from __future__ import annotations

import ctypes
import decimal
from typing import Any, NamedTuple

import libmode
import numpy as np
from libmode import _native
from libmode._option_values import TAKEN

#: What C returns for each kind, and the class in Python.
STATUS = {
    "ARGUMENT": ValueError,
    "OPTION": ValueError,
    "NOT_FINITE": ValueError,
    "SCORE_RANGE": ValueError,
    "TOO_FEW": libmode.BatchError,
    "BIN": libmode.BatchError,
    "OVERFLOW": ValueError,
    "UNDEFINED": libmode.BatchError,
}


class Case(NamedTuple):
    """An error."""

    input: str  #: statements that change the arguments of a good call, or add some
    kind: str  #: the status of C without MODE_ERROR_, or for what only Python can say the name of its class
    sentence: str  #: "{options}" stands for the names of all options
    function: str = "mode_loss"  #: "disco_loss" and "flatness_loss": mode_loss with that loss
    elsewhere: dict[str, str | None] = {}  #: the sentence in bindings where it differs; None: there is no such input

    @property
    def error(self) -> type[Exception]:
        """The class in Python."""
        return STATUS.get(self.kind) or {"TypeError": TypeError, "ValueError": ValueError}[self.kind]

    @property
    def loss(self) -> str:
        """Which loss is computed, of cases whose function is one."""
        return self.function.removesuffix("_loss")

    def arguments(self) -> dict[str, Any]:
        """The arguments by name, as NumPy's arrays and Python's values."""
        given = good()
        exec(self.input, {"np": np, "nan": np.nan, "inf": np.inf, "decimal": decimal}, given)
        return given

    def expected(self, binding: str) -> str | None:
        """The sentence in a binding; None where it cannot be made."""
        sentence = self.elsewhere.get(binding, self.sentence)
        return sentence and filled(sentence)


def good() -> dict[str, Any]:
    """The arguments of a call that is accepted."""
    return {
        "score": np.linspace(0.01, 0.99, 60),
        "mass": np.arange(60.0),
        "weight": np.ones(60),
        "label": np.zeros(60, np.int64),
        "bins": 4,
    }


def filled(sentence: str) -> str:
    """The sentence with what depends on the library in place of what stands for it."""
    for name, text in {
        "{options}": ", ".join(TAKEN["mode"]),
        "{version}": libmode.__version__,
        "{number of options}": str(len(_native.OPTIONS)),
        "{size of options}": str(ctypes.sizeof(_native.default_options())),
        "{size of events}": str(ctypes.sizeof(_native.ModeEvents)),
        "{size of variable}": str(ctypes.sizeof(_native.ModeVariable)),
    }.items():
        sentence = sentence.replace(name, text)
    return sentence


#: Options, which the core checks.
OPTIONS = [
    Case("order = 17", "OPTION", "order = 17 must be between 0 and 16"),
    Case("order = -1", "OPTION", "order = -1 must be between 0 and 16"),
    Case("bins = -3", "OPTION", "bins = -3 must be at least 1"),
    Case(
        "bins = (4, -1); mass = np.stack([mass, mass[::-1]], axis=1)",
        "OPTION",
        "bins of variable 1 = -1 must be at least 1",
    ),
    Case("order = 1; max_slope = 0", "OPTION", "max_slope = 0 must be greater than 0"),
    Case("order = 1; max_slope = nan", "OPTION", "max_slope = NaN must be greater than 0"),
    Case("max_slope = 1", "OPTION", "max_slope = 1 bounds the slope, which needs order >= 1, and order is 0"),
    Case(
        "order = 1; monotonic = True",
        "OPTION",
        "monotonic = true bounds the moments above the slope (a linear response is monotonic already), which needs order >= 2, and order is 1",
    ),
    Case("order = 1; slope_penalty = -0.5", "OPTION", "slope_penalty = -0.5 must be finite and at least 0"),
    Case("order = 1; slope_penalty = inf", "OPTION", "slope_penalty = +Inf must be finite and at least 0"),
    Case("slope_penalty = 1", "OPTION", "slope_penalty = 1 acts on the slope, which needs order >= 1, and order is 0"),
    Case("mass_range = (50, 10)", "OPTION", "mass_range = [50, 10] must have its lower end below its upper end"),
    Case("mass_range = (10, 10)", "OPTION", "mass_range = [10, 10] must have its lower end below its upper end"),
    Case("mass_range = (0, nan)", "OPTION", "mass_range = [0, NaN] must have two finite ends"),
    Case("mass_range = (0, inf)", "OPTION", "mass_range = [0, +Inf] must have two finite ends"),
    Case(
        "mass_range = (-1.7e308, 1.7e308)",
        "OPTION",
        "mass_range = [-1.7e+308, 1.7e+308] is too wide for double precision",
    ),
    Case(
        "mass_range = (None, (1, 0)); mass = np.stack([mass, mass], axis=1)",
        "OPTION",
        "mass_range of variable 1 = [1, 0] must have its lower end below its upper end",
    ),
    Case("score_range = (1, 0)", "OPTION", "score_range = [1, 0] must have its lower end below its upper end"),
    Case("score_range = (nan, 1)", "OPTION", "score_range = [NaN, 1] must have two finite ends"),
    Case(
        "score_range = (-1.7e308, 1.7e308)",
        "OPTION",
        "score_range = [-1.7e+308, 1.7e+308] is too wide for double precision",
    ),
    Case("edges = (0, 20, 20, 59); del bins", "OPTION", "edges[2] = 20 must be greater than edges[1] = 20"),
    Case("edges = (59, 0); del bins", "OPTION", "edges[1] = 0 must be greater than edges[0] = 59"),
    Case("edges = (0, nan, 59); del bins", "OPTION", "edges[1] = NaN must be finite"),
    Case("edges = (3,); del bins", "OPTION", "edges has length 1: binning = edges needs at least 2 edges"),
    Case("edges = (); del bins", "OPTION", "edges has length 0: binning = edges needs at least 2 edges"),
    Case(
        "edges = (-1.7e308, 1.7e308); del bins",
        "OPTION",
        "edges = [-1.7e+308, 1.7e+308] is too wide for double precision",
    ),
    Case("binning = 'edges'; del bins", "OPTION", "edges has length 0: binning = edges needs at least 2 edges"),
    Case(
        "edges = (0, 59); mass_range = (0, 59); del bins",
        "OPTION",
        "mass_range = [0, 59] cannot be given together with edges, whose ends are the range",
    ),
    Case(
        "edges = ((0, 30, 59), (0, 3, 2)); mass = np.stack([mass, mass], axis=1); del bins",
        "OPTION",
        "edges[2] of variable 1 = 2 must be greater than edges[1] of variable 1 = 3",
    ),
    Case("background_label = ()", "OPTION", "background_label = [] must name at least one label"),
    Case("background_label = (1, 2, 1)", "OPTION", "background_label = [1 2 1] names label 1 twice"),
    Case(
        "joint = True; order = 1; max_slope = 1",
        "OPTION",
        "max_slope = 1 cannot be given together with joint = true, whose bins are cells of several variables, in which there is no one slope",
    ),
    Case(
        "joint = True; moments = 'quadrature'",
        "OPTION",
        "moments = quadrature cannot be given together with joint = true, which has projection moments only",
    ),
    Case(
        "joint = True; binning = 'values'; del bins",
        "OPTION",
        "binning = values cannot be given together with joint = true, which needs quantile, uniform or given bins",
    ),
    Case(
        "joint = True; knots = (30,)",
        "OPTION",
        "basis = bspline cannot be given together with joint = true, which has polynomials only",
    ),
    Case("binning = 'values'", "OPTION", "bins = 4 has no meaning with binning = values: leave it out"),
    Case(
        "binning = 'values'; moments = 'quadrature'; del bins",
        "OPTION",
        "moments = quadrature cannot be given together with binning = values, which has projection moments only",
    ),
    Case("degree = 3", "OPTION", "degree = 3 needs basis = bspline"),
    Case("degree = 6; basis = 'bspline'", "OPTION", "degree = 6 must be between 0 and 5"),
    Case(
        "basis = 'bspline'; order = 1",
        "OPTION",
        "order = 1 cannot be given together with basis = bspline, whose functions are not polynomials up to an order",
    ),
    Case("knots = (30, 20)", "OPTION", "knots[1] = 20 must be greater than knots[0] = 30"),
    Case("knots = (30, inf)", "OPTION", "knots[1] = +Inf must be finite"),
    Case("knots = (60,); mass_range = (0, 59)", "OPTION", "knots[0] = 60 does not lie inside the mass range [0, 59]"),
    Case(
        "knots = ((30,), (70,)); mass_range = ((0, 59), (0, 59)); mass = np.stack([mass, mass], axis=1)",
        "OPTION",
        "knots[0] of variable 1 = 70 does not lie inside the mass range [0, 59]",
    ),
]
#: Events, which the core checks.
EVENTS = [
    Case("score[7] = nan", "NOT_FINITE", "score[7] = NaN: every score of a selected event must be finite"),
    Case("score[7] = inf", "NOT_FINITE", "score[7] = +Inf: every score of a selected event must be finite"),
    Case("score[7] = -inf", "NOT_FINITE", "score[7] = -Inf: every score of a selected event must be finite"),
    Case("mass[7] = nan", "NOT_FINITE", "mass[7] = NaN: every mass of a selected event must be finite"),
    Case("mass[7] = inf", "NOT_FINITE", "mass[7] = +Inf: every mass of a selected event must be finite"),
    Case("mass[7] = -inf", "NOT_FINITE", "mass[7] = -Inf: every mass of a selected event must be finite"),
    Case("weight[7] = nan", "NOT_FINITE", "weight[7] = NaN: every weight of a selected event must be finite"),
    Case("weight[7] = inf", "NOT_FINITE", "weight[7] = +Inf: every weight of a selected event must be finite"),
    Case("weight[7] = -inf", "NOT_FINITE", "weight[7] = -Inf: every weight of a selected event must be finite"),
    Case(
        "score[5] = 1.5",
        "SCORE_RANGE",
        "score[5] = 1.5 lies outside score_range = [0, 1]: apply a sigmoid to raw outputs, or use score_range=None",
    ),
    Case(
        "score[5] = -0.25",
        "SCORE_RANGE",
        "score[5] = -0.25 lies outside score_range = [0, 1]: apply a sigmoid to raw outputs, or use score_range=None",
    ),
    Case(
        "score_range = (0, 0.5)",
        "SCORE_RANGE",
        "score[30] = 0.5083050847457626 lies outside score_range = [0, 0.5]: widen it, or use score_range=None",
    ),
    Case(
        "score, mass, weight, label = score[:0], mass[:0], weight[:0], label[:0]",
        "TOO_FEW",
        "no event selected: mass is empty (length 0)",
    ),
    Case(
        "background_label = 3",
        "TOO_FEW",
        "no event selected: none of the 60 values of label equals background_label = 3; label holds 0 (60 events): check background_label, or use larger batches",
        elsewhere={
            "c": "no event selected: none of the 60 values of label equals background_label = 3: use larger batches, or check background_label"
        },
    ),
    Case(
        "background_label = (0, 8)",
        "TOO_FEW",
        "no event selected: none of the 60 values of label equals background_label = 8; label holds 0 (60 events): check background_label, or use larger batches",
        elsewhere={
            "c": "no event selected: none of the 60 values of label equals background_label = 8: use larger batches, or check background_label"
        },
    ),
    Case(
        "mass_range = (100, 200)",
        "TOO_FEW",
        "no event selected: all 60 masses of the selected events lie outside the mass range [100, 200]: check mass_range (or edges) and the unit of mass",
    ),
    Case(
        "edges = (-5, -2); del bins",
        "TOO_FEW",
        "no event selected: all 60 masses of the selected events lie outside the mass range [-5, -2]: check mass_range (or edges) and the unit of mass",
    ),
    Case(
        "mass[:] = nan; missing = 'ignore'",
        "TOO_FEW",
        "no event selected: all 60 masses of the selected events are NaN, and missing = ignore leaves these out",
    ),
    Case(
        "mass = np.stack([mass, mass], axis=1); mass_range = ((100, 200), (100, 200))",
        "TOO_FEW",
        "no event selected: none of the 60 selected events has a value of any variable of mass inside its range: check mass_range (or edges) and the unit of mass",
    ),
    Case(
        "mass = np.stack([mass, mass], axis=1); mass_range = ((100, 200), None); joint = True",
        "TOO_FEW",
        "no event selected: none of the 60 selected events has a value of every variable of mass inside its range: check mass_range (or edges) and the unit of mass",
    ),
    Case(
        "mass = np.stack([mass, mass], axis=1); mass[3, 1] = nan",
        "NOT_FINITE",
        "variable 1 of mass: mass[3] = NaN: every mass of a selected event must be finite",
    ),
    Case(
        "mass = np.stack([mass, mass], axis=1); mass[3, 1] = nan; joint = True",
        "NOT_FINITE",
        "variable 1 of mass: mass[3] = NaN: every mass of a selected event must be finite",
    ),
    Case(
        "bins = 61",
        "TOO_FEW",
        "too few events: 60 selected events cannot fill bins = 61 quantile bins: use fewer bins or larger batches",
    ),
    Case(
        "bins = 61; binning = 'uniform'",
        "TOO_FEW",
        "too few events: 60 selected events cannot fill bins = 61 uniform bins: use fewer bins or larger batches",
    ),
    Case(
        "score, mass, weight, label = score[:9], mass[:9], weight[:9], label[:9]; order = 8; del bins",
        "TOO_FEW",
        "too few events: 9 selected events cannot fill the 10 bins that a response of order = 8 needs at least: use larger batches or a lower order",
    ),
    Case(
        "score, mass, weight, label = score[:3], mass[:3], weight[:3], label[:3]; knots = (1,); del bins",
        "TOO_FEW",
        "too few events: 3 selected events cannot fill the 6 bins that a response of 5 B-splines needs at least: use larger batches or fewer knots",
    ),
    Case(
        "mass = np.arange(60) % 2; order = 2; del bins",
        "TOO_FEW",
        "too few events, or too few that differ in mass: 60 selected events make 2 bins, and a response of order = 2 needs more than 3 to be seen in: use larger batches, a lower order, or give bins or edges",
    ),
    Case(
        "bins = (4, 61); mass = np.stack([mass, mass], axis=1)",
        "TOO_FEW",
        "variable 1 of mass: too few events: 60 selected events cannot fill bins = 61 quantile bins: use fewer bins or larger batches",
    ),
    Case(
        "mass[:] = 91.2",
        "BIN",
        "mass: all 60 selected events have the same mass 91.2, so no range of masses can be binned: give mass_range or edges, or a mass that varies",
    ),
    Case(
        "mass[0], mass[1] = -1.7e308, 1.7e308",
        "OVERFLOW",
        "mass: the selected events span [-1.7e+308, 1.7e+308], which is too wide for double precision",
    ),
    Case(
        "mass = 1 + mass * 2**-52 / 60; binning = 'uniform'; bins = 60",
        "OPTION",
        "bins = 60: mass range [1, 1.0000000000000002] is too narrow for so many bins in double precision",
    ),
    Case(
        "mass[:] = mass >= 30; binning = 'uniform'",
        "BIN",
        "bin 1 of 4, mass in [0.25, 0.5), has sum of weights 0: it is empty, or its weights cancel; use fewer or wider bins, quantile bins or larger batches",
    ),
    Case(
        "edges = (0, 59, 59.5); mass = mass % 59; del bins",
        "BIN",
        "bin 1 of 2, mass in [59, 59.5], has sum of weights 0: it is empty, or its weights cancel; use fewer or wider bins, quantile bins or larger batches",
    ),
    Case(
        "weight[15:30] = -1",
        "BIN",
        "bin 1 of 4, mass in [14.5, 29.5), has sum of weights -15, which must be positive and finite: use fewer or wider bins, quantile bins or larger batches",
    ),
    Case(
        "weight[:15] = np.resize([1, -1, 0], 15)",
        "BIN",
        "bin 0 of 4, mass in [0, 14.5), has sum of weights 0: it is empty, or its weights cancel; use fewer or wider bins, quantile bins or larger batches",
    ),
    Case(
        "unbiased = True; edges = (0, 0.5, 59); del bins",
        "BIN",
        "bin 0 of 2, mass in [0, 0.5), has (sum of weights)^2 / (sum of squared weights) = 1 effective events, and unbiased needs at least 1.05: use fewer bins or larger batches",
    ),
    Case(
        "unbiased = True; weight[1:15] = 0",
        "BIN",
        "bin 0 of 4, mass in [0, 14.5), has (sum of weights)^2 / (sum of squared weights) = 1 effective events, and unbiased needs at least 1.05: use fewer bins or larger batches",
    ),
    Case(
        "order = 4",
        "OPTION",
        "order = 4 with moments = projection fits 5 coefficients, but there are only 4 bins: use more bins, a lower order or moments = quadrature",
    ),
    Case(
        "mass = np.repeat((0, 3.0, 5, 7, 9, 12), 10); weight = np.repeat((-3.0, 6, 1, 1, 6, -3), 10); order = 1; edges = (0, 4, 8, 12); del bins",
        "OPTION",
        "order = 1 with moments = projection is not determined by these 3 bins, whose mean masses nearly coincide: use other bins, a lower order or moments = quadrature",
    ),
    Case(
        "mass[59] = 1e15; order = 2; slope_penalty = 0.1",
        "OVERFLOW",
        "mass = 1e+15 is so far from most others that rounding may change the gradient by more than 1e-06 of its largest element with order = 2: give a mass_range without such masses, or a lower order",
    ),
    Case(
        "mass = np.stack([mass, mass], axis=1); joint = True; edges = (range(300), range(300)); del bins",
        "OPTION",
        "bins (or edges) of all variables make 89401 cells, and 65536 are possible: use fewer",
    ),
    Case(
        "knots = (10, 20, 30, 40, 50); bins = 4",
        "OPTION",
        "9 functions of the mass fit whatever 4 bins have, so that nothing is left to see: use more bins, or fewer functions (a lower order, fewer knots)",
    ),
    Case(
        "knots = (70,)",
        "BIN",
        "knots[0] = 70 does not lie inside the mass range [0, 59] of the selected events: give a mass_range that has it inside",
    ),
    Case(
        "mass = np.stack([mass, mass], axis=1); joint = True; order = 9; bins = 2",
        "OPTION",
        "55 functions of the mass fit whatever 4 bins have, so that nothing is left to see: use more bins, or fewer functions (a lower order, fewer knots)",
    ),
    Case(
        "score = np.where(label == np.arange(60) % 2, -1.7e308, 1.7e308); score_range = None",
        "OVERFLOW",
        "the loss is beyond double precision: scores, or weights relative to their sum in a bin, are too large",
    ),
    Case(
        "mass = np.repeat(mass, 70); mass += np.arange(4200) / 4200; score, weight, label = np.repeat(score, 70), np.repeat(weight, 70), np.repeat(label, 70); binning = 'values'; del bins",
        "OPTION",
        "binning = values makes a bin of each mass that occurs, and there are more than 4096: it is for masses that have few values, such as years or groups",
    ),
    Case(
        "category = np.arange(60) // 58; bins = 4",
        "TOO_FEW",
        "events of category = 1: too few events: 2 selected events cannot fill bins = 4 quantile bins: use fewer bins or larger batches",
    ),
    Case(
        "category = np.arange(60) % 2; score[7] = 2",
        "SCORE_RANGE",
        "events of category = 1: score[7] = 2 lies outside score_range = [0, 1]: apply a sigmoid to raw outputs, or use score_range=None",
    ),
    Case(
        "category = np.arange(60) % 2; weight[1::2] = -0.5",
        "BIN",
        "events of category = 1: their share of the sum of weights is -1, and must be positive: use larger batches, or leave these events out",
    ),
    Case(
        "category = np.arange(60) % 2; weight[7] = nan",
        "NOT_FINITE",
        "events of category = 1: weight[7] = NaN: every weight of a selected event must be finite",
    ),
    Case(
        "label = np.arange(60) % 2; background_label = (0, 1); score[7] = 2",
        "SCORE_RANGE",
        "events with background_label = 1: score[7] = 2 lies outside score_range = [0, 1]: apply a sigmoid to raw outputs, or use score_range=None",
    ),
    Case(
        "label = np.arange(60) // 2 % 2; category = np.arange(60) % 2; background_label = (0, 1); score[7] = 2",
        "SCORE_RANGE",
        "events with background_label = 1 of category = 1: score[7] = 2 lies outside score_range = [0, 1]: apply a sigmoid to raw outputs, or use score_range=None",
    ),
    Case(
        "del bins; score, mass, weight, label = score[:1], mass[:1], weight[:1], label[:1]",
        "TOO_FEW",
        "too few events: 1 selected events, and DisCo with unbiased = false needs at least 2: use larger batches",
        "disco_loss",
    ),
    Case(
        "del bins; unbiased = True; score, mass, weight, label = score[:3], mass[:3], weight[:3], label[:3]",
        "TOO_FEW",
        "too few events: 3 selected events, and DisCo with unbiased = true needs at least 4: use larger batches",
        "disco_loss",
    ),
    Case(
        "del bins; mass[:] = 91.2",
        "UNDEFINED",
        "mass: all 60 selected events have the same mass 91.2, so that DisCo is 0/0, which is not defined",
        "disco_loss",
    ),
    Case(
        "del bins; score[:] = 0.5",
        "UNDEFINED",
        "score: all 60 selected events have the same score 0.5, so that DisCo is 0/0, which is not defined",
        "disco_loss",
    ),
    Case(
        "del bins; score[0], score[1] = -1.7e308, 1.7e308",
        "OVERFLOW",
        "score: the selected events span [-1.7e+308, 1.7e+308], which is too wide for double precision",
        "disco_loss",
    ),
    Case(
        "del bins; weight[:] = -2",
        "UNDEFINED",
        "weight: the 60 selected events have sum of weights -120, which must be positive",
        "disco_loss",
    ),
    Case(
        "del bins; unbiased = True; weight[3:] = 0",
        "UNDEFINED",
        "weight: with unbiased, the means over 4 different events have a sum of weights of 0 times that over all, and it must be positive: use larger batches, or weights that vary less",
        "disco_loss",
    ),
    Case(
        "del bins; weight[1:] = 0",
        "UNDEFINED",
        "mass: the distance variance of the 60 selected events is 0 times their mean squared distance, so that DisCo, which divides by its root, is not defined: all but one of them agree in double precision, or negative weights outweigh the others",
        "disco_loss",
    ),
    Case(
        "del bins, weight, label; score = np.array([0, 1, 2, 4]) * 5e-324; mass = mass[:4]",
        "OVERFLOW",
        "grad[0] is beyond what its type can hold: scores differ by too little, or slope_penalty or weights relative to their sum in a bin are too large",
        "disco_loss",
    ),
]
#: Of the functions beside the losses, and of what is no option of a module.
LOOKING = [
    Case("loss = 'ward'", "ValueError", "loss = 'ward': must be one of 'mode', 'disco', 'flatness'"),
    Case(
        "hess = True; score *= 1e-320; score_range = None",
        "OVERFLOW",
        "hess[0] is beyond what its type can hold: scores differ by too little, or slope_penalty or weights relative to their sum in a bin are too large",
        "mode_evaluate",
    ),
    Case("del score; weight = weight[1:]", "ValueError", "weight has length 59, but mass has length 60", "mode_edges"),
    Case("del score; label = np.zeros(59)", "ValueError", "label has length 59, but mass has length 60", "mode_edges"),
    Case(
        "del score; label = np.arange(60) % 2; background_label = (0, 1)",
        "OPTION",
        "background_label = [0 1] names several labels, which have bins of their own: ask for one at a time",
        "mode_edges",
    ),
    Case(
        "del score; mass = np.stack([mass, mass], axis=1)",
        "ValueError",
        "mass has shape (60, 2): expected (n,) or (n, 1); this is for one variable at a time",
        "mode_edges",
    ),
    Case(
        "del score; category = np.arange(60) % 2",
        "TypeError",
        "category: this is for one category at a time: give the events of that category alone",
        "mode_edges",
    ),
    Case(
        "order = 16; moments = 'quadrature'; bins = 1; weight[:] = 0.05; weight[:2] = 1e308, -1e308; at = [0.012]",
        "OVERFLOW",
        "moments are beyond double precision: weights relative to their sum in a bin are too large",
        "mode_moments",
    ),
    Case("at = (0, nan)", "NOT_FINITE", "at[1] = NaN: must be a number", "mode_moments"),
    Case("at = ((0, 1),)", "ValueError", "at has shape (1, 2): expected (n,) or (n, 1)", "mode_moments"),
    Case(
        "basis = 'bspline'",
        "OPTION",
        "basis = bspline has no moments, which are those of polynomials: use basis = legendre",
        "mode_moments",
    ),
    Case(
        "score, mass, weight, label = (np.resize(a, 10000) for a in (score, np.arange(10000.0), weight, label)); bins = 5000; hess = True",
        "OPTION",
        "hess of 5000 bins is not computed, but of at most 4096: use fewer bins",
        "mode_evaluate",
    ),
    Case(
        "del score; mass = mass[:0]; del weight, label",
        "TOO_FEW",
        "no event selected: mass is empty (length 0)",
        "mode_edges",
    ),
    Case(
        "weight[7] = nan",
        "NOT_FINITE",
        "weight[7] = NaN: every weight of a selected event must be finite",
        "mode_moments",
    ),
]
#: Options as Python has them.
FRONT_OPTIONS = [
    Case(
        "bins = (1, 2, 3); mass = np.stack([mass, mass], axis=1)",
        "ValueError",
        "bins has 3 entries, but mass has 2 variables",
    ),
    Case("order = 1.5", "TypeError", "order = 1.5: must be an integer"),
    Case("order = 2**40", "ValueError", "order = 1099511627776: does not fit in 32 bits"),
    Case("order = 10**5000", "ValueError", "order = <int>: does not fit in 32 bits"),
    Case("order = None", "TypeError", "order = None: this option has no such value"),
    Case("bins = 0", "ValueError", "bins = 0: must be at least 1"),
    Case("bins = '32'", "TypeError", "bins = '32': must be an integer"),
    Case("bins = ()", "ValueError", "bins = (): must have a value for each variable of mass"),
    Case("bins = (4, 0)", "ValueError", "bins[1] = 0: must be at least 1"),
    Case("bins = (4, 1.5)", "TypeError", "bins[1] = 1.5: must be an integer"),
    Case("bins = (1, 2, 3, 4)", "ValueError", "bins has 4 entries: mass has at most 3 variables"),
    Case("bins = (1, 2, 3); mass_range = (None, None)", "ValueError", "mass_range has 2 entries, but bins has 3"),
    Case("bins = (1, 2, 3)", "ValueError", "bins has 3 entries, but mass has 1 variable"),
    Case("max_slope = '1'", "TypeError", "max_slope = '1': must be a number"),
    Case(
        "max_slope = 10**400",
        "ValueError",
        "max_slope = 1000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000 ... 00000000000000000000000000000000000000000000000000: is too large for double precision",
    ),
    Case("max_slope = (1,)", "TypeError", "max_slope = (1,): must be a number"),
    Case("monotonic = 'yes'", "TypeError", "monotonic = 'yes': must be True or False"),
    Case("unbiased = 2", "TypeError", "unbiased = 2: must be True or False"),
    Case("joint = np.array([1, 2])", "TypeError", "joint = array([1, 2]): must be True or False"),
    Case(
        "binning = 'log'",
        "ValueError",
        "binning = 'log': must be one of 'quantile', 'uniform', 'edges', 'values'",
    ),
    Case("moments = 'fit'", "ValueError", "moments = 'fit': must be one of 'quadrature', 'projection'"),
    Case("slope_of = 'both'", "ValueError", "slope_of = 'both': must be one of 'rejected', 'selected'"),
    Case("reduction = 'none'", "ValueError", "reduction = 'none': must be one of 'mean', 'sum'"),
    Case("missing = 'drop'", "ValueError", "missing = 'drop': must be one of 'error', 'ignore'"),
    Case("basis = 'fourier'", "ValueError", "basis = 'fourier': must be one of 'legendre', 'bspline'"),
    Case("reduction = ['mean']", "ValueError", "reduction = ['mean']: must be one of 'mean', 'sum'"),
    Case("reduction = None", "TypeError", "reduction = None: this option has no such value"),
    Case("lam = 2", "TypeError", "unknown option 'lam': the options are {options}"),
    Case("weights = weight", "TypeError", "unknown option 'weights': did you mean weight? The options are {options}"),
    Case("ordr = 1", "TypeError", "unknown option 'ordr': did you mean order? The options are {options}"),
    Case("mass_range = (1, 2, 3)", "ValueError", "mass_range = (1, 2, 3): must be a pair (low, high) or None"),
    Case("mass_range = 10", "TypeError", "mass_range = 10: must be a sequence of numbers"),
    Case("mass_range = (0, None)", "TypeError", "mass_range[1] = None: must be a number"),
    Case(
        "mass_range = ((0, 1), (0, 1, 2))",
        "ValueError",
        "mass_range[1] = (0, 1, 2): must be a pair (low, high) or None",
    ),
    Case(
        "mass_range = (0, 59); mass = np.stack([mass, mass], axis=1)",
        "ValueError",
        "mass_range = (0.0, 59.0) is one, but mass has 2 variables: give one for each",
    ),
    Case("score_range = '01'", "TypeError", "score_range = '01': must be a sequence of numbers"),
    Case("edges = ('a', 'b')", "TypeError", "edges[0] = 'a': must be a number"),
    Case("edges = 3", "TypeError", "edges = 3: must be a sequence of numbers"),
    Case("edges = ((0, 1), None)", "TypeError", "edges[1] = None: must be a sequence of numbers"),
    Case(
        "edges = (0, 59); binning = 'uniform'; del bins",
        "ValueError",
        "binning = 'uniform' cannot be given together with edges: leave one of them out",
    ),
    Case(
        "edges = (0, 59); mass = np.stack([mass, mass], axis=1); del bins",
        "ValueError",
        "edges = (0.0, 59.0) is one, but mass has 2 variables: give one for each",
    ),
    Case(
        "knots = (30,); basis = 'legendre'",
        "ValueError",
        "basis = 'legendre' cannot be given together with knots: leave one of them out",
    ),
    Case("degree = -1", "ValueError", "degree = -1: must not be negative"),
    Case("background_label = '0'", "TypeError", "background_label = '0': must be an integer or a sequence of integers"),
    Case("background_label = 0.5", "TypeError", "background_label = 0.5: must be an integer"),
    Case("background_label = 2**31", "ValueError", "background_label = 2147483648: does not fit in 32 bits"),
    Case("background_label = None", "TypeError", "background_label = None: must be an integer"),
    Case("background_label = (0, 0.5)", "TypeError", "background_label[1] = 0.5: must be an integer"),
]
#: Arrays as Python has them.
FRONT_ARRAYS = [
    Case("mass = mass[:-1]", "ValueError", "mass has length 59, but score has length 60"),
    Case("weight = weight[:-1]", "ValueError", "weight has length 59, but score has length 60"),
    Case("label = label[:-1]", "ValueError", "label has length 59, but score has length 60"),
    Case("category = np.zeros(59, int)", "ValueError", "category has length 59, but score has length 60"),
    Case("score = np.full((60, 2), 0.5)", "ValueError", "score has shape (60, 2): expected (n,) or (n, 1)"),
    Case(
        "mass = mass[None, :]",
        "ValueError",
        "mass has shape (1, 60): expected (n,), or (n, d) for d variables, at most 3",
    ),
    Case(
        "mass = np.zeros((60, 4))",
        "ValueError",
        "mass has shape (60, 4): expected (n,), or (n, d) for d variables, at most 3",
    ),
    Case("weight = np.array(2.0)", "ValueError", "weight has shape (): expected (n,) or (n, 1)"),
    Case("label = np.zeros((60, 1, 1))", "ValueError", "label has shape (60, 1, 1): expected (n,) or (n, 1)"),
    Case("category = np.zeros((60, 2), int)", "ValueError", "category has shape (60, 2): expected (n,) or (n, 1)"),
    Case(
        "score = score.astype(complex)",
        "TypeError",
        "score has dtype complex128: expected real numbers",
        elsewhere={
            "torch": "score is torch.complex128: expected a floating-point tensor",
            "jax": "score has dtype complex128: expected a floating type",
        },
    ),
    Case(
        "mass = mass.astype(complex)",
        "TypeError",
        "mass has dtype complex128: expected real numbers",
        elsewhere={"torch": "mass is torch.complex128: expected a tensor of real numbers"},
    ),
    Case(
        "label = label.astype(complex)",
        "TypeError",
        "label has dtype complex128: expected real numbers",
        elsewhere={"torch": "label is torch.complex128: expected a tensor of real numbers"},
    ),
    Case(
        "category = mass",
        "TypeError",
        "category has dtype float64: expected integers",
        elsewhere={"torch": "category is torch.float64: expected a tensor of integers"},
    ),
    Case(
        "score = None",
        "TypeError",
        "score is None: expected an array of real numbers",
        elsewhere={
            "torch": "score is NoneType: expected a floating-point tensor",
        },
    ),
    Case(
        "mass = None",
        "TypeError",
        "mass is None: expected an array of real numbers",
        elsewhere={
            "torch": "mass is NoneType: expected a tensor of real numbers",
        },
    ),
    Case(
        "score = np.full(60, 'a')",
        "TypeError",
        "score has dtype <U1: expected real numbers",
        elsewhere={
            "torch": "score is ndarray: expected a floating-point tensor",
        },
    ),
    Case(
        "mass = [decimal.Decimal(1)] * 60",
        "TypeError",
        "mass has dtype object: expected real numbers",
        elsewhere={"torch": "mass is list: expected a tensor of real numbers"},
    ),
    Case(
        "mass = np.zeros(60, 'M8[s]')",
        "TypeError",
        "mass has dtype datetime64[s]: expected real numbers",
        elsewhere={"torch": "mass is ndarray: expected a tensor of real numbers"},
    ),
    Case(
        "score = np.ma.masked_less(score, 0.05)",
        "TypeError",
        "score[0] is masked: select the valid events first, for instance with .compressed()",
        elsewhere={"torch": "score is MaskedArray: expected a floating-point tensor"},
    ),
    Case(
        "score = [[0.1], [0.2, 0.3]]",
        "ValueError",
        "score cannot be made an array: expected one number for each event",
        elsewhere={"torch": None},
    ),
]

#: What only a program in C can get wrong; a case without a call is mode_evaluate_f64(&options, &events, &result, grad, NULL).
C_CASES = [
    Case(
        "options.struct_size = 8",
        "ARGUMENT",
        "options.struct_size = 8, but this library ({version}) knows sizes from {size of options} to {size of options}: call mode_options_init(&options, sizeof options) first, and compile against the header of the library in use",
    ),
    Case(
        "events.struct_size = 8",
        "ARGUMENT",
        "events.struct_size = 8, but this library ({version}) knows sizes from {size of events} to {size of events}: call mode_events_init(&events, sizeof events) first, and compile against the header of the library in use",
    ),
    Case(
        "variable[1].struct_size = 8; options.variables = variable; options.n_variables = 2",
        "ARGUMENT",
        "variable.struct_size = 8, but this library ({version}) knows sizes from {size of variable} to {size of variable}: call mode_variable_init(&variable, sizeof variable) first, and compile against the header of the library in use",
    ),
    Case("events.score = NULL", "ARGUMENT", "score is NULL, but 60 elements are expected"),
    Case("events.mass = NULL", "ARGUMENT", "mass is NULL, but n_mass = 1 pointers are expected"),
    Case("masses[0] = NULL", "ARGUMENT", "mass is NULL, but 60 elements are expected"),
    Case("events.n_mass = 4", "ARGUMENT", "n_mass = 4: mass has 1 to 3 variables"),
    Case(
        "events.n = SIZE_MAX",
        "ARGUMENT",
        "mass: 18446744073709551615 elements are more than the 4294967295 that one call can take",
    ),
    Case("masses[1] = NULL; events.n_mass = 2", "ARGUMENT", "mass[1] is NULL, but 60 elements are expected"),
    Case("events.label_type = 7", "ARGUMENT", "label_type = 7: must be one of MODE_LABEL_..."),
    Case(
        "events.category = label; events.category_type = MODE_LABEL_FLOAT32",
        "ARGUMENT",
        "category_type = 4: categories are integers",
    ),
    Case(
        "events.category = label; events.category_type = 7",
        "ARGUMENT",
        "category_type = 7: must be one of MODE_LABEL_...",
    ),
    Case(
        "options.variables = variable; options.n_variables = 4",
        "ARGUMENT",
        "n_variables = 4: a call can have 3 variables",
    ),
    Case("options.n_variables = 2", "ARGUMENT", "variables is NULL, but 2 elements are expected"),
    Case(
        "options.variables = variable; options.n_variables = 2; variable[1].n_edges = 3",
        "ARGUMENT",
        "edges of variable 1 is NULL, but 3 elements are expected",
    ),
    Case(
        "options.variables = variable; options.n_variables = 2; variable[1].n_knots = 3",
        "ARGUMENT",
        "knots of variable 1 is NULL, but 3 elements are expected",
    ),
    Case(
        "options.variables = variable; options.n_variables = 3; events.n_mass = 2",
        "OPTION",
        "bins, mass_range, edges or knots have one entry for each of 3 variables, but mass has 2 variables",
    ),
    Case(
        "options.variables = variable; options.n_variables = 2; events.n_mass = 2; options.mass_range[0] = 0; options.mass_range[1] = 9",
        "OPTION",
        "mass_range = [0, 9] cannot be given for all variables together: give one for each",
    ),
    Case(
        "options.mass_range[0] = 0; options.mass_range[1] = 9; events.n_mass = 2",
        "OPTION",
        "mass_range = [0, 9] is one for all, but mass has 2 variables: give one for each",
    ),
    Case("options.n_background_label = 2", "ARGUMENT", "background_label is NULL, but 2 elements are expected"),
    Case("options.n_edges = 3", "ARGUMENT", "edges is NULL, but 3 elements are expected"),
    Case(
        "options.edges = mass; options.n_edges = 2",
        "OPTION",
        "edges has length 2, but binning = quantile takes none: set binning = edges, or leave them out",
    ),
    Case(
        "options.knots = mass; options.n_knots = 2",
        "OPTION",
        "knots has length 2, but basis = legendre takes none: set basis = bspline, or leave them out",
    ),
    Case("options.loss = 7", "OPTION", "loss = 7 must be the number of one of mode, disco, flatness, counted from 0"),
    Case(
        "options.binning = 7",
        "OPTION",
        "binning = 7 must be the number of one of quantile, uniform, edges, values, counted from 0",
    ),
    Case("options.missing = -1", "OPTION", "missing = -1 must be the number of one of error, ignore, counted from 0"),
    Case(
        "options.loss = MODE_LOSS_FLATNESS; options.order = 1",
        "OPTION",
        "order = 1 has no meaning for loss = flatness: leave it at its default",
    ),
    Case(
        "options.n_edges = SIZE_MAX",
        "ARGUMENT",
        "edges: 18446744073709551615 elements are more than the 4294967295 that one call can take",
    ),
    Case(
        "options.n_variables = SIZE_MAX; options.variables = variable; variable[0].struct_size = 0",
        "ARGUMENT",
        "n_variables = 18446744073709551615: a call can have 3 variables",
    ),
    Case(
        "options.variables = variable; options.n_variables = 2; variable[1].bins = -2",
        "OPTION",
        "bins of variable 1 = -2 must be at least 1",
    ),
    Case(
        "options.loss = MODE_LOSS_FLATNESS; options.unbiased = 1",
        "OPTION",
        "unbiased = true has no meaning for loss = flatness: leave it at its default",
    ),
    Case("mode_evaluate_f64(&options, NULL, &result, grad, NULL)", "ARGUMENT", "events is NULL"),
    Case("mode_evaluate_f32(&options, NULL, &result, NULL, NULL)", "ARGUMENT", "events is NULL"),
    Case(
        "mode_evaluate_f64(&options, &events, NULL, grad, NULL)",
        "ARGUMENT",
        "result is NULL: there is nowhere to put the result",
    ),
    Case(
        "options.loss = MODE_LOSS_DISCO; options.bins = 0; mode_evaluate_f64(&options, &events, &result, NULL, grad)",
        "OPTION",
        "loss = disco has no bound on its curvature: it is of loss = mode alone",
    ),
    Case("events.smoothing = -1", "OPTION", "smoothing = -1: must be finite and above 0"),
    Case(
        "options.loss = MODE_LOSS_FLATNESS; mode_direction_f64(&options, &events, &steering, &pushed, grad, NULL)",
        "OPTION",
        "loss = flatness has no direction of a constraint: it is of loss = mode alone",
    ),
    Case(
        "options.score_range[0] = -INFINITY; options.score_range[1] = INFINITY; options.bins = 1; events.n = 2; score[0] = 1; score[1] = 1 + 0x1p-52; mode_evaluate_f64(&options, &events, &result, NULL, grad)",
        "OPTION",
        "score is too coarse for hess: 0.0625 times the range 2.220446049250313e-16 of the scores is less than the rounding error of scores of up to 1.0000000000000002",
    ),
    Case(
        "mode_edges_f64(&options, &events, 9, grad, NULL)",
        "ARGUMENT",
        "n_edges is NULL: there is nowhere to put the number of edges",
    ),
    Case(
        "mode_edges_f64(&options, &events, 4, grad, &count)",
        "ARGUMENT",
        "capacity = 4 is less than the 5 edges of the bins used",
    ),
    Case(
        "mode_moments_f64(&options, &events, 1, score, 5, grad, NULL, NULL)",
        "ARGUMENT",
        "n_bins = 5, but 4 bins are used: ask mode_edges_f32 or mode_edges_f64",
    ),
    Case(
        "mode_moments_f64(&options, &events, 3, NULL, 4, grad, NULL, NULL)",
        "ARGUMENT",
        "at is NULL, but 3 elements are expected",
    ),
    Case("mode_options_init(NULL, sizeof options)", "ARGUMENT", "options is NULL"),
    Case("mode_variable_init(NULL, sizeof *variable)", "ARGUMENT", "variable is NULL"),
    Case("mode_events_init(NULL, sizeof events)", "ARGUMENT", "events is NULL"),
    Case("mode_option_at(1000, &option)", "ARGUMENT", "k = 1000, but there are {number of options} options"),
    Case("mode_option_at(0, NULL)", "ARGUMENT", "option is NULL: there is nowhere to put the row"),
    Case(
        "mode_set_threads(-1)",
        "ARGUMENT",
        "threads = -1 must not be negative: give 0 for the default, or the number of threads",
    ),
    Case("mode_get_threads(NULL)", "ARGUMENT", "threads is NULL"),
]
