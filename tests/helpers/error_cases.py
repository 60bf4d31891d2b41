"""The ways in which a call of a loss goes wrong: one table for NumPy, PyTorch, JAX, Keras and C.

A row has the input, which is Python (or C, for ``C_CASES``) that spoils the arguments of :func:`good`; the status of C
without MODE_ERROR_, or the class in Python; and what the sentence must name: the argument, the value and the place.
"...": anything may stand there.
"""

from __future__ import annotations

import decimal
from typing import Any, NamedTuple

import libmode
import numpy as np

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
    "TypeError": TypeError,
    "ValueError": ValueError,
}


class Case(NamedTuple):
    """An error."""

    input: str
    kind: str
    words: str
    function: str  #: "disco_loss": mode_loss with that loss

    @property
    def error(self) -> type[Exception]:
        """The class in Python."""
        return STATUS[self.kind]

    @property
    def loss(self) -> str:
        """Which loss is computed, of cases whose function is one."""
        return self.function.removesuffix("_loss")

    def arguments(self) -> dict[str, Any]:
        """The arguments by name, as NumPy's arrays and Python's values."""
        given = good()
        names = {"np": np, "nan": np.nan, "inf": np.inf, "decimal": decimal, "two": two, "first": first}
        exec(self.input, names | {"given": given}, given)
        return {"order": 0} | given if self.loss in ("mode", "mode_evaluate", "mode_moments") else given

    def is_in(self, error: object) -> bool:
        """Whether the sentence of an error names what it must."""
        return all(part in str(error) for part in self.words.split(" ... "))


def good() -> dict[str, Any]:
    """The arguments of a call that is accepted."""
    return {
        "score": np.linspace(0.01, 0.99, 60),
        "mass": np.arange(60.0),
        "weight": np.ones(60),
        "label": np.zeros(60, np.int64),
        "bins": 4,
    }


def two(mass):
    """The mass as that of two variables."""
    return np.stack([mass, mass], axis=1)


def first(n, given):
    """The arrays of the first n events."""
    return [given[name][:n] for name in ("score", "mass", "weight", "label")]


def table(rows: str, function: str = "mode_loss") -> list[Case]:
    """The cases of a table."""
    return [Case(*map(str.strip, row.split(" | ")), function) for row in rows.strip().splitlines()]


#: Options, which the core checks.
OPTIONS = table("""
order = 17 | OPTION | order = 17 must be between 0 and 16
bins = -3 | OPTION | bins = -3
bins = (4, -1); mass = two(mass) | OPTION | bins of variable 1 = -1
order = 1; max_slope = 0 | OPTION | max_slope = 0
order = 1; max_slope = nan | OPTION | max_slope = NaN
max_slope = 1 | OPTION | max_slope = 1 needs order >= 1
order = 1; monotonic = True | OPTION | monotonic = true
order = 1; slope_penalty = -0.5 | OPTION | slope_penalty = -0.5
order = 1; slope_penalty = inf | OPTION | slope_penalty = +Inf
slope_penalty = 1 | OPTION | slope_penalty = 1 needs order >= 1
mass_range = (10, 10) | OPTION | mass_range = [10, 10] must have its lower end below
mass_range = (0, inf) | OPTION | mass_range = [0, +Inf] must have two finite ends
mass_range = (-1.7e308, 1.7e308) | OPTION | mass_range = [-1.7e+308, 1.7e+308] is too wide
mass_range = (None, (1, 0)); mass = two(mass) | OPTION | mass_range of variable 1 = [1, 0]
score_range = (1, 0) | OPTION | score_range = [1, 0] must have its lower end below
score_range = (nan, 1) | OPTION | score_range = [NaN, 1] must have two finite ends
score_range = (-1.7e308, 1.7e308) | OPTION | score_range = [-1.7e+308, 1.7e+308] is too wide
edges = (0, 20, 20, 59); del bins | OPTION | edges[2] = 20 must be greater than edges[1] = 20
edges = (0, nan, 59); del bins | OPTION | edges[1] = NaN must be finite
edges = (3,); del bins | OPTION | edges has length 1
edges = (-1.7e308, 1.7e308); del bins | OPTION | edges = [-1.7e+308, 1.7e+308] is too wide
binning = 'edges'; del bins | OPTION | edges has length 0
edges = (0, 59); mass_range = (0, 59); del bins | OPTION | mass_range = [0, 59] cannot be combined with edges
edges = ((0, 30, 59), (0, 3, 2)); mass = two(mass); del bins | OPTION | edges[2] of variable 1 = 2
background_label = () | OPTION | background_label = [] must name at least one label
background_label = (1, 2, 1) | OPTION | background_label = [1 2 1] names label 1 twice
joint = True; order = 1; max_slope = 1 | OPTION | max_slope = 1 cannot be combined with joint = true
joint = True; moments = 'quadrature' | OPTION | moments = quadrature cannot be combined with joint = true
""")

#: Events, which the core checks.
EVENTS = table("""
score[7] = nan | NOT_FINITE | score[7] = NaN
mass[7] = inf | NOT_FINITE | mass[7] = +Inf ... NaN for a missing mass
weight[7] = -inf | NOT_FINITE | weight[7] = -Inf
score[5] = 1.5 | SCORE_RANGE | score[5] = 1.5 lies outside score_range = [0, 1]: apply a sigmoid
score[5] = -0.25 | SCORE_RANGE | score[5] = -0.25 lies outside score_range = [0, 1]
score_range = (0, 0.5) | SCORE_RANGE | score[30] = 0.5083050847457626 lies outside score_range = [0, 0.5]
score, mass, weight, label = first(0, given) | TOO_FEW | no event selected: mass is empty
background_label = 3 | TOO_FEW | no event selected: none of the 60 values of label equals background_label = 3
background_label = (0, 8) | TOO_FEW | no event selected: none of the 60 values of label equals background_label = 8
mass_range = (100, 200) | TOO_FEW | all 60 masses of the selected events lie outside the mass range [100, 200]
edges = (-5, -2); del bins | TOO_FEW | all 60 masses of the selected events lie outside the mass range [-5, -2]
mass[:] = nan; missing = 'ignore' | TOO_FEW | all 60 masses of the selected events are NaN
mass = two(mass); mass_range = ((100, 200), (100, 200)) | TOO_FEW | none of the 60 selected events has any variable
mass = two(mass); mass_range = ((100, 200), None); joint = True | TOO_FEW | none of the 60 selected events has every variable
mass = two(mass); mass[3, 1] = nan | NOT_FINITE | variable 1 of mass: mass[3] = NaN
mass = two(mass); edges = ((0, 30, 59), (0, 30, 59)); joint = True; del bins; mass[7, 0] = 1e6; weight[7] = inf | NOT_FINITE | weight[7] = +Inf
mass = two(mass); edges = ((0, 30, 59), (0, 30, 59)); joint = True; del bins; weight[30:] = -1 | BIN | mass in [30, 59] x [30, 59], has sum of weights -30
mass = two(mass); mass[3, 1] = nan; joint = True | NOT_FINITE | variable 1 of mass: mass[3] = NaN
bins = 61 | TOO_FEW | 60 selected events cannot fill bins = 61 quantile bins
bins = 61; binning = 'uniform' | TOO_FEW | 60 selected events cannot fill bins = 61 uniform bins
score, mass, weight, label = first(9, given); order = 8; del bins | TOO_FEW | 9 selected events cannot fill the 10 bins ... order = 8
mass = np.arange(60) % 2; order = 2; del bins | TOO_FEW | 60 selected events make 2 bins, and a response of order = 2 needs more than 3
bins = (4, 61); mass = two(mass) | TOO_FEW | variable 1 of mass: too few events
mass[:] = 91.2 | BIN | mass: all 60 selected events have the same mass 91.2
mass[0], mass[1] = -1.7e308, 1.7e308 | OVERFLOW | mass: the selected events span [-1.7e+308, 1.7e+308]
mass = 1 + mass * 2**-52 / 60; binning = 'uniform'; bins = 60 | OPTION | bins = 60: mass range [1, 1.0000000000000002] is too narrow
mass[:] = mass >= 30; binning = 'uniform' | BIN | bin 1 of 4, mass in [0.25, 0.5), has sum of weights 0
edges = (0, 59, 59.5); mass = mass % 59; del bins | BIN | bin 1 of 2, mass in [59, 59.5], has sum of weights 0
weight[:] = 0 | BIN | bin 0 of 4, mass in [0, 14.5), has sum of weights 0
weight[15:30] = -1 | BIN | bin 1 of 4, mass in [14.5, 29.5), has sum of weights -15
unbiased = True; edges = (0, 0.5, 59); del bins | BIN | bin 0 of 2, mass in [0, 0.5), has ... = 1 effective events
order = 4 | OPTION | order = 4 with moments = projection fits 5 coefficients, but there are only 4 bins
mass = np.repeat((0, 3.0, 5, 7, 9, 12), 10); weight = np.repeat((-3.0, 6, 1, 1, 6, -3), 10); order = 1; edges = (0, 4, 8, 12); del bins | OPTION | order = 1 ... 3 bins, whose mean masses nearly coincide
mass[59] = 1e15; order = 2; slope_penalty = 0.1 | OVERFLOW | mass = 1e+15 is so far from most others ... order = 2
mass = two(mass); joint = True; edges = (range(300), range(300)); del bins | OPTION | bins (or edges) of all variables make 89401 cells
mass = np.stack([mass, mass * 7 % 60], axis=1); joint = True; order = 2; bins = 2 | OPTION | 6 functions of the mass fit 4 bins exactly
score, mass, weight, label = first(3, given); mass = np.stack([mass, mass**2], axis=1); joint = True; order = 1; del bins | TOO_FEW | 3 functions of the mass fit 3 bins exactly
score = np.where(label == np.arange(60) % 2, -1.7e308, 1.7e308); score_range = None | OVERFLOW | the loss overflows double precision
category = np.arange(60) // 58; bins = 4 | TOO_FEW | events of category = 1: too few events
category = np.arange(60) % 2; score[7] = 2 | SCORE_RANGE | events of category = 1: score[7] = 2
category = np.arange(60) % 2; weight[1::2] = -0.5 | BIN | events of category = 1: their share of the sum of weights is -1
category = np.arange(60) % 3; weight = 2.0 * category - 2 | BIN | events of category = 0: their share of the sum of weights is -Inf
label = np.arange(60) % 2; background_label = (0, 1); score[7] = 2 | SCORE_RANGE | events with background_label = 1: score[7] = 2
label = np.arange(60) // 2 % 2; category = np.arange(60) % 2; background_label = (0, 1); score[7] = 2 | SCORE_RANGE | events with background_label = 1 of category = 1: score[7] = 2
""") + table(
    """
del bins; score, mass, weight, label = first(1, given) | TOO_FEW | 1 events, and DisCo with unbiased = false needs at least 2
del bins; unbiased = True; score, mass, weight, label = first(3, given) | TOO_FEW | 3 events, and DisCo with unbiased = true needs at least 4
del bins; mass[:] = 91.2 | UNDEFINED | mass: all 60 events have the value 91.2
del bins; score[:] = 0.5 | UNDEFINED | score: all 60 events have the value 0.5
del bins; score[0], score[1] = -1.7e308, 1.7e308 | OVERFLOW | score: the events span [-1.7e+308, 1.7e+308]
del bins; weight[:] = -2 | UNDEFINED | weight: the 60 events have sum of weights -120
del bins; unbiased = True; weight[3:] = 0 | UNDEFINED | weight: with unbiased, the means over 4 different events have a sum of weights of 0
del bins; weight[1:] = 0 | UNDEFINED | mass: the distance variance of the 60 events is 0
del bins, weight, label; score = np.array([0, 1, 2, 4]) * 5e-324; mass = mass[:4] | OVERFLOW | grad[0] = -Inf: the derivative overflows its type
del bins; label = np.arange(60) % 2; background_label = (0, 1) | ValueError | background_label = (0, 1), and loss = 'disco' takes one
del bins; mass = two(mass) | ValueError | mass has 2 variables, and loss = 'disco' takes one mass
del bins; category = np.arange(60) % 2 | ValueError | category is given, and loss = 'disco' takes one mass and label, no category
""",
    "disco_loss",
)

#: Of the functions beside the losses.
LOOKING = [
    *table("loss = 'ward' | ValueError | loss = 'ward': must be one of 'mode', 'disco'"),
    *table(
        """
hess = True; score *= 1e-320; score_range = None | OVERFLOW | hess[0] overflows its type
score, mass, weight, label = (np.resize(a, 10000) for a in (score, np.arange(10000.0), weight, label)); bins = 5000; hess = True | OPTION | hess of 5000 bins
""",
        "mode_evaluate",
    ),
    *table(
        """
del score; weight = weight[1:] | ValueError | weight has length 59, but label has length 60
del score; label = np.arange(60) % 2; background_label = (0, 1) | OPTION | background_label = [0 1] names several labels
del score; mass = two(mass) | ValueError | mass has shape (60, 2)
del score; category = np.arange(60) % 2 | TypeError | unknown option 'category'
del score; label = np.zeros(60); label[7] = nan | ValueError | label[7] = nan
del score; mass = mass[:0]; del weight, label | TOO_FEW | no event selected: mass is empty
""",
        "mode_edges",
    ),
    *table(
        """
order = 16; moments = 'quadrature'; bins = 1; weight[:] = 0.05; weight[:2] = 1e308, -1e308; at = [0.012] | OVERFLOW | moments overflow double precision
at = (0, nan) | NOT_FINITE | at[1] = NaN
at = [0.5]; weight[7] = nan | NOT_FINITE | weight[7] = NaN
at = [0.5]; label = np.zeros(60); label[7] = nan | ValueError | label[7] = nan
""",
        "mode_moments",
    ),
]

#: Options as Python has them.
FRONT_OPTIONS = table("""
bins = (1, 2, 3); mass = two(mass) | ValueError | bins, mass_range or edges have one entry for each of 3 variables, but mass has 2
order = 1.5 | ValueError | order = 1.5 must be an integer
order = 2**40 | ValueError | order = 1.099511627776e+12 must be between 0 and 16
order = 10**5000 | TypeError | order = <int> must be an integer
order = None | ValueError | order = none must be an integer
bins = (1, 2, 3, 4) | ValueError | options are given for 4 variables of mass
bins = 0 | ValueError | bins = 0 must be an integer, at least 1
bins = () | ValueError | bins = ... must be an integer
bins = (4, 0) | ValueError | bins = 0 must be an integer, at least 1
bins = (1, 2, 3); mass_range = (None, None) | ValueError | mass_range = none;none has values for 2 variables, and an option before it for 3
max_slope = '1' | TypeError | max_slope = '1' must be a number
max_slope = 10**400 | ValueError | max_slope = 1000 ... must be a number
monotonic = 'yes' | TypeError | monotonic = 'yes' must be true or false
joint = np.array([1, 2]) | ValueError | joint = 1,2 must be true or false
binning = 'log' | ValueError | binning = log must be one of quantile, uniform, edges
binning = 'edges order=3' | ValueError | binning = edges_order=3 must be one of
reduction = ['mean'] | ValueError | reduction = mean; must be one of mean, sum
lam = 2 | TypeError | unknown option 'lam'
ordr = 1 | TypeError | unknown option 'ordr': did you mean order?
weights = weight | TypeError | unknown option 'weights': did you mean weight?
mass_range = 10 | ValueError | mass_range = 10 must be two increasing numbers
mass_range = (0, None) | ValueError | mass_range = 0 must be two increasing numbers
mass_range = ((0, 1), (0, 1, 2)) | ValueError | mass_range = 0,1,2 must be two
mass_range = (0, 59); mass = two(mass) | ValueError | mass_range = 0,59 is a single value, but mass has 2 variables
score_range = '01' | TypeError | score_range = '01' must be two increasing numbers
edges = ((0, 1), None); del bins | ValueError | edges of variable 1 has length 0
edges = (0, 59); binning = 'uniform'; del bins | ValueError | edges has length 2, but binning = uniform takes none
edges = (0, 59); mass = two(mass); del bins | ValueError | edges = 0,59 is a single value, but mass has 2 variables
background_label = '0' | TypeError | background_label = '0' must be different integers
background_label = 2**31 | ValueError | background_label = 2147483648 must be different integers
background_label = (0, 0.5) | ValueError | background_label = 0;0.5 must be different integers
""")

#: Arrays as Python has them.
FRONT_ARRAYS = table("""
mass = mass[:-1] | ValueError | mass has length 59, but score has length 60
weight = weight[:-1] | ValueError | weight has length 59, but score has length 60
label = label[:-1] | ValueError | label has length 59, but score has length 60
label = np.zeros(60); label[7] = nan | ValueError | label[7] = nan: expected a number
label = np.zeros(60, np.float32); label[[7, 9]] = nan; label[3] = 1; background_label = (0, 1) | ValueError | label[7] = nan
category = np.zeros(59, int) | ValueError | category has length 59, but score has length 60
score = np.full((60, 2), 0.5) | ValueError | score has shape (60, 2)
mass = mass[None, :] | ValueError | mass has shape (1, 60)
mass = np.zeros((60, 4)) | ValueError | mass has shape (60, 4)
weight = np.array(2.0) | ValueError | weight has shape ()
label = np.zeros((60, 1, 1)) | ValueError | label has shape (60, 1, 1)
category = np.zeros((60, 2), int) | ValueError | category has shape (60, 2)
score = score.astype(complex) | TypeError | score ... complex128
category = mass | TypeError | category ... float64 ... integers
score = None | TypeError | score is None
score = np.full(60, 'a') | TypeError | score
mass = [decimal.Decimal(1)] * 60 | TypeError | mass
mass = np.zeros(60, 'M8[s]') | TypeError | mass
score = np.ma.masked_less(score, 0.05) | TypeError | score
""")

#: What only a program in C can get wrong; a case without a call is mode_loss(m, &events, &result, grad).
C_CASES = table("""
events.size = 8 | ARGUMENT | events.size = 8, but the struct has
result.size = 3 | ARGUMENT | result.size = 3, but the struct has
m = mode_new("order=17") | ARGUMENT | m is NULL: mode_new returns NULL after an error. The last error was: order = 17 must be
m = (mode_handle *)room | ARGUMENT | is no handle of mode_new, or it was freed
m = mode_new("order=1"); mode_free(m) | ARGUMENT | is no handle of mode_new, or it was freed
events.dtype = 0 | ARGUMENT | dtype = 0: must be MODE_FLOAT32 or MODE_FLOAT64
events.dtype = MODE_INT64 | ARGUMENT | dtype = 3: must be MODE_FLOAT32 or MODE_FLOAT64
events.score = NULL | ARGUMENT | score is NULL, but 60 elements are expected
events.mass = NULL | ARGUMENT | mass is NULL, but 60 elements are expected
events.n_mass = 4 | ARGUMENT | n_mass = 4
events.n_mass = -1 | ARGUMENT | n_mass = -1
events.n = SIZE_MAX | ARGUMENT | score: 18446744073709551615 elements are more than the 4294967295
events.batch = 61 | ARGUMENT | batch = 61 is more than the n = 60 events
events.label_type = 7 | ARGUMENT | label_type = 7
events.category = label; events.category_type = MODE_FLOAT32 | ARGUMENT | category_type = 1: categories are integers
events.category = label; events.category_type = 7 | ARGUMENT | category_type = 7
m = mode_new("bins=4;4;4"); events.n_mass = 2 | OPTION | one entry for each of 3 variables, but mass has 2
m = mode_new("mass_range=0,9"); events.n_mass = 2 | OPTION | mass_range = 0,9 is a single value, but mass has 2 variables
weight[5] = NAN | NOT_FINITE | weight[5] = NaN
result.hess = room; result.smoothing = -1 | OPTION | smoothing = -1
m = mode_new("score_range=none bins=1"); events.n = 2; score[0] = 1; score[1] = 1 + 0x1p-52; result.hess = room | OPTION | score is too coarse for hess
result.hess = room; result.averages = state | ARGUMENT | hess and averages
result.averages = state | OPTION | averages are given, and strength = none
m = mode_new("strength=1 score_range=0,2"); result.averages = state | OPTION | score_range = [0, 2] cannot be combined with a strength
m = mode_new("strength=1"); result.averages = state; state[2] = NAN | OPTION | averages[2] = NaN
mode_loss(m, NULL, &result, grad) | ARGUMENT | events is NULL
mode_loss(m, &events, NULL, grad) | ARGUMENT | result is NULL
mode_set_edges(NULL, 0, 2, mass) | ARGUMENT | m is NULL
mode_set_edges(m, 0, 2, NULL) | ARGUMENT | edges is NULL, but 2 elements are expected
mode_set_edges(m, 0, SIZE_MAX, mass) | ARGUMENT | edges: 18446744073709551615 elements are more than the 4294967295
mode_set_edges(m, 1, 2, mass) | ARGUMENT | variable = 1: set the edges of variables 0 to 2 one after the other
mode_set_edges(m, SIZE_MAX, 2, mass) | ARGUMENT | variable = 18446744073709551615
mode_set_edges(m, 0, 1, mass) | OPTION | edges has length 1
mass[1] = 0; mode_set_edges(m, 0, 2, mass) | OPTION | edges[1] = 0 must be greater than edges[0] = 0
m = mode_new("binning=uniform"); mode_set_edges(m, 0, 2, mass) | OPTION | edges has length 2, but binning = uniform takes none
mode_state_check(NULL, state) | ARGUMENT | m is NULL
mode_state_check(m, NULL) | ARGUMENT | state is NULL, but 324 elements are expected
mode_push(m, NULL, state, grad, grad) | ARGUMENT | events is NULL
mode_push(m, &events, state, grad, NULL) | ARGUMENT | grad_out is NULL, but 60 elements are expected
events.batch = 9; mode_push(m, &events, state, NULL, grad) | ARGUMENT | grad_in is NULL, but 9 elements are expected
mode_push_rows(m, &events, NULL, NULL, state) | ARGUMENT | rows is NULL, but 240 elements are expected
mode_push_rows(m, &events, NULL, room, NULL) | ARGUMENT | lesson is NULL, but 324 elements are expected
mode_push_apply(N, MODE_INT8, room, state, 300, grad, grad, NULL, NULL) | ARGUMENT | dtype = 4: must be MODE_FLOAT32 or MODE_FLOAT64
mode_push_apply(SIZE_MAX, MODE_FLOAT64, room, state, 300, grad, grad, NULL, NULL) | ARGUMENT | n = 18446744073709551615 events are more than
mode_distance_correlation(N, MODE_FLOAT64, mass, NULL, weight, 0, &value, NULL, grad) | ARGUMENT | y is NULL, but 60 elements are expected
mode_distance_correlation(N, MODE_FLOAT64, mass, score, weight, 0, NULL, NULL, grad) | ARGUMENT | value is NULL
mode_distance_correlation(N, MODE_INT32, mass, score, weight, 0, &value, NULL, grad) | ARGUMENT | dtype = 0
mode_distance_correlation(3, MODE_FLOAT64, mass, score, weight, 1, &value, NULL, grad) | TOO_FEW | 3 events, and DisCo with unbiased = true needs at least 4
score[2] = INFINITY; mode_distance_correlation(N, MODE_FLOAT64, mass, score, NULL, 1, &value, NULL, grad) | NOT_FINITE | y[2] = +Inf
weight[0] = -N; mode_distance_correlation(N, MODE_FLOAT64, mass, score, weight, 0, &value, NULL, grad) | UNDEFINED | weight: the 60 events have sum of weights -1
mode_table_of(m, &events, NULL) | ARGUMENT | table is NULL
table.size = 9; mode_table_of(m, &events, &table) | ARGUMENT | table.size = 9
table.capacity = 3; mode_table_of(m, &events, &table) | ARGUMENT | table.capacity = 3 is less than the 4 bins used
events.category = label; mode_table_of(m, &events, &table) | OPTION | category is given
events.n_mass = 2; mode_table_of(m, &events, &table) | OPTION | mass has 2 variables, and each has its own bins
table.n_at = 2; table.at = score; table.cdf = room + N; table.edges = NULL; table.capacity = 3; mode_table_of(m, &events, &table) | ARGUMENT | table.capacity = 3 is less than the 4 bins used
events.score = NULL; table.moments = room + N; mode_table_of(m, &events, &table) | ARGUMENT | score is NULL
table.n_at = 3; table.cdf = room + N; mode_table_of(m, &events, &table) | ARGUMENT | at is NULL, but 3 elements are expected
mode_set_threads(-1) | ARGUMENT | threads = -1
mode_get_threads(NULL) | ARGUMENT | threads is NULL
mode_last_error_parts(NULL) | ARGUMENT | error is NULL
""")
