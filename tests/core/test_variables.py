"""Masses of several variables, categories, and the options that each variable has of its own, through NumPy."""

from functools import partial

import libmode
import numpy as np
import pandas as pd
import pytest

N = 300
RNG = np.random.default_rng(5)
SCORE = RNG.random(N)
MASS = np.column_stack([50 + RNG.exponential(60, N), RNG.normal(SCORE, 1), RNG.uniform(-1, 1, N)])
WEIGHT = RNG.choice([0.5, 1.0, 2.0], N)
CATEGORY = RNG.integers(0, 3, N)


def evaluate(mass=MASS[:, :2], **arguments):
    return libmode.mode_loss_and_grad(SCORE, mass, **({"bins": 5, "order": 1} | arguments))


def assert_same(got, want, rtol=1e-12):
    np.testing.assert_allclose(got[0], want[0], rtol=rtol)
    np.testing.assert_allclose(got[1], want[1], rtol=0, atol=rtol * np.abs(want[1]).max())


def mean(results):
    losses, grads = zip(*results, strict=True)
    return np.mean(losses), np.mean(grads, axis=0)


# ---------------------------------------------------------- several variables


@pytest.mark.parametrize("variables", [2, 3])
def test_one_by_one_is_the_mean_of_the_losses_of_the_columns(variables):
    mass = MASS[:, :variables]
    assert_same(evaluate(mass, weight=WEIGHT), mean([evaluate(column, weight=WEIGHT) for column in mass.T]))


OF_EACH = {
    "bins": {"bins": (4, 9)},
    "bins, one left out": {"bins": [4, None]},
    "bins, array": {"bins": np.array([4, 9])},
    "mass_range": {"mass_range": [(60, 200), (-1, 1.5)]},
    "mass_range of one": {"mass_range": [None, (-1, 1.5)]},
    "mass_range, array": {"mass_range": np.array([[60, 200], [-1, 1.5]])},
    "edges": {"edges": [(50, 80, 120, 900), np.array([-9, -0.5, 0.5, 1, 9])], "bins": None},
    "knots": {"knots": [[80], (0, 1)], "order": 0, "degree": 1},
    "several": {"bins": (4, 9), "mass_range": [(60, 200), None], "binning": "uniform", "unbiased": False},
}


@pytest.mark.parametrize("name", OF_EACH)
def test_each_variable_has_options_of_its_own(name):
    """One by one the loss is the mean of the losses of the columns with the options of each."""
    options = OF_EACH[name]
    each = ("bins", "mass_range", "edges", "knots")

    def of(k):
        return {key: value[k] if key in each and value is not None else value for key, value in options.items()}

    mass = np.column_stack([np.minimum(MASS[:, 0], 800), MASS[:, 1]])
    want = mean([evaluate(mass[:, k], **of(k)) for k in range(2)])
    assert_same(evaluate(mass, **options), want)


def test_a_sequence_of_one_is_for_one_variable():
    one = MASS[:, :1]
    assert evaluate(one, bins=[7])[0] == evaluate(one[:, 0], bins=7)[0]
    assert evaluate(one, edges=[[50, 80, 900]])[0] == evaluate(one[:, 0], edges=[50, 80, 900])[0]
    assert evaluate(one, mass_range=[(60, 100)])[0] == evaluate(one[:, 0], mass_range=(60, 100))[0]


LAYOUTS = {
    "Fortran": np.asfortranarray,
    "rows of a transposed array": lambda mass: np.ascontiguousarray(mass.T).T,
    "strided": lambda mass: np.repeat(np.repeat(mass, 2, axis=0), 3, axis=1)[::2, ::3],
    "list": lambda mass: mass.tolist(),
    "data frame": lambda mass: pd.DataFrame(mass, columns=["mass", "pt"]),
    "longdouble": lambda mass: mass.astype(np.longdouble),
}


@pytest.mark.parametrize("joint", [False, True])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_layout_of_mass_does_not_matter(layout, joint):
    want, want_grad = evaluate(joint=joint)
    loss, grad = evaluate(LAYOUTS[layout](MASS[:, :2]), joint=joint)
    assert loss == want and (grad == want_grad).all()


def test_one_column_is_one_variable():
    want, want_grad = evaluate(MASS[:, 0])
    loss, grad = evaluate(MASS[:, :1])
    assert loss == want and (grad == want_grad).all()


@pytest.mark.parametrize("joint", [False, True])
def test_float32(joint):
    score, mass = SCORE.astype(np.float32), MASS[:, :2].astype(np.float32)
    loss, grad = libmode.mode_loss_and_grad(score, mass, bins=5, joint=joint)
    want, want_grad = libmode.mode_loss_and_grad(score.astype(float), mass.astype(float), bins=5, joint=joint)
    assert grad.dtype == np.float32
    np.testing.assert_allclose(loss, want, rtol=1e-5)
    np.testing.assert_allclose(grad, want_grad, rtol=0, atol=1e-6 * np.abs(want_grad).max())


@pytest.mark.parametrize("dtype", [np.float16, np.float32])
@pytest.mark.parametrize(
    "limits", [{"mass_range": [(0, 0.8), (0.1, 0.7)]}, {"edges": [(0, 0.5, 0.8), (0.1, 0.5, 0.7)]}]
)
def test_events_on_a_limit_of_each_variable_take_part(dtype, limits):
    mass = np.column_stack([np.linspace(0, 0.8, N), np.linspace(0.1, 0.7, N)]).astype(dtype)
    mass[[0, -1]] = np.array([[0, 0.1], [0.8, 0.7]], dtype)
    rest = {"edges": {}, "mass_range": {"binning": "uniform", "bins": 2}}[next(iter(limits))]
    score = SCORE.astype(np.float32)
    _, grad = libmode.mode_loss_and_grad(score, mass, unbiased=False, moments="quadrature", **limits, **rest)
    assert np.count_nonzero(grad) == N


def test_missing_values():
    absent = MASS[:, :2].copy()
    absent[::7, 1] = np.nan
    with pytest.raises(ValueError, match=r"variable 1 of mass: mass\[0\] = NaN"):
        evaluate(absent)
    there = ~np.isnan(absent[:, 1])
    of_second = np.zeros(N)
    second, of_second[there] = libmode.mode_loss_and_grad(SCORE[there], absent[there, 1], bins=5, order=1)
    first, of_first = evaluate(absent[:, 0])
    assert_same(evaluate(absent, missing="ignore"), ((first + second) / 2, (of_first + of_second) / 2))


def test_the_other_losses_take_several_variables():
    for loss, options in (("disco", {}), ("flatness", {"bins": (4, 6)})):
        function = partial(libmode.mode_loss_and_grad, loss=loss)
        each = [function(SCORE, MASS[:, k], **{name: value[k] for name, value in options.items()}) for k in range(2)]
        assert_same(function(SCORE, MASS[:, :2], **options), mean(each))


# ----------------------------------------------------------------- categories


def by_category(category, **arguments):
    """The loss and its gradient by their definition: each category alone, times its share."""
    weight, total, grad = arguments.get("weight", np.ones(N)), 0.0, np.zeros(N)
    for value in np.unique(category):
        mine = category == value
        own = {name: array[mine] if np.shape(array)[:1] == (N,) else array for name, array in arguments.items()}
        loss, own_grad = libmode.mode_loss_and_grad(SCORE[mine], MASS[mine, 0], **own)
        share = weight[mine].sum() / weight.sum()
        total += share * loss
        grad[mine] = share * own_grad
    return total, grad


@pytest.mark.parametrize("dtype", [*"?bBhHiIlLqQ", ">i4", ">u2"])
def test_categories_of_every_type(dtype):
    category = CATEGORY.astype(dtype)
    want = by_category(category, weight=WEIGHT, bins=5)
    given = (category, category[:, None], np.repeat(category, 2)[::2], pd.Series(category), category.tolist())
    for array in given:
        assert_same(libmode.mode_loss_and_grad(SCORE, MASS[:, 0], weight=WEIGHT, category=array, bins=5), want)


def test_any_integers_are_categories():
    want = libmode.mode_loss(SCORE, MASS[:, 0], category=CATEGORY)
    for values in ((-(2**63), 0, 2**63 - 1), (2016, 2017, 2018), (-5, 3, 10**12)):
        assert libmode.mode_loss(SCORE, MASS[:, 0], category=np.array(values)[CATEGORY]) == want
    unsigned = np.array([0, 2**63, 2**64 - 1], np.uint64)
    assert libmode.mode_loss(SCORE, MASS[:, 0], category=unsigned[CATEGORY]) == pytest.approx(want, rel=1e-12)


def test_categories_of_a_label():
    label = np.arange(N) % 2
    mine = label == 0
    loss, grad = evaluate(MASS[:, 0], label=label, category=CATEGORY)
    want, want_grad = libmode.mode_loss_and_grad(SCORE[mine], MASS[mine, 0], category=CATEGORY[mine], bins=5, order=1)
    np.testing.assert_allclose(loss, want, rtol=1e-12)
    np.testing.assert_allclose(grad[mine], want_grad, rtol=1e-12, atol=1e-18)
    assert (grad[~mine] == 0).all()


# --------------------------------------------------------------------- errors

BAD = {
    "4 variables": (dict(mass=np.zeros((N, 4))), ValueError, r"^mass has shape \(300, 4\): expected \(n,\), or \(n, d\) .*at most 3"),
    "no variable": (dict(mass=np.zeros((N, 0))), ValueError, r"^mass has shape \(300, 0\)"),
    "3 dimensions": (dict(mass=np.zeros((N, 2, 1))), ValueError, r"^mass has shape \(300, 2, 1\)"),
    "length": (dict(mass=MASS[1:, :2]), ValueError, "^mass has length 299, but score has length 300"),
    "3 bins": (dict(bins=[1, 2, 3]), ValueError, "^bins has 3 entries, but mass has 2 variables"),
    "2 bins of 1": (dict(mass=MASS[:, 0], bins=[4, 5]), ValueError, "^bins has 2 entries, but mass has 1 variable$"),
    "4 bins": (dict(bins=[1, 2, 3, 4]), ValueError, "^bins has 4 entries: mass has at most 3 variables"),
    "bins and ranges": (dict(bins=[1, 2, 3], mass_range=[None, None]), ValueError, "^mass_range has 2 entries, but bins has 3"),
    "no bins": (dict(bins=[]), ValueError, r"^bins = \(\): must have a value for each variable of mass"),
    "bins of 0": (dict(bins=[4, 0]), ValueError, r"^bins\[1\] = 0: must be at least 1"),
    "bins of -1": (dict(bins=[4, -1]), ValueError, "^bins of variable 1 = -1 must be at least 1"),
    "bins of 1.5": (dict(bins=[4, 1.5]), TypeError, r"^bins\[1\] = 1.5: must be an integer"),
    "one range": (dict(mass_range=(0, 1)), ValueError, r"^mass_range = \(0.0, 1.0\) is a single value, but mass has 2 variables: give one for each"),
    "one sequence of edges": (dict(edges=(0, 1)), ValueError, "^edges = .* is a single value, but mass has 2 variables: give one for each"),
    "one sequence of knots": (dict(knots=(0, 1), order=0), ValueError, "^knots = .* is a single value, but mass has 2 variables: give one for each"),
    "a range of three": (dict(mass_range=[(0, 1), (0, 1, 2)]), ValueError, r"^mass_range\[1\] = .*: must be a pair \(low, high\) or None"),
    "half a range": (dict(mass_range=(0, None)), TypeError, r"^mass_range\[1\] = None: must be a number"),
    "a falling range": (dict(mass_range=[None, (1, 0)]), ValueError, r"^mass_range of variable 1 = \[1, 0\]"),
    "falling edges": (dict(edges=[(0, 1), (0, 3, 2)], bins=None), ValueError, r"^edges\[2\] of variable 1 = 2"),
    "edges and none": (dict(edges=[(0, 1), None]), TypeError, r"^edges\[1\] = None: must be a sequence of numbers"),
    "edges and a number": (dict(edges=[(0, 1), 3]), TypeError, r"^edges\[1\] = 3: must be a sequence of numbers"),
    "knots and polynomials": (dict(knots=[(0,), (1,)], basis="legendre"), ValueError, "^basis = 'legendre' cannot be combined with knots"),
    "degree": (dict(degree=-1), ValueError, "^degree = -1: must not be negative"),
    "joint": (dict(joint=1.5), TypeError, "^joint = 1.5: must be True or False"),
    "missing": (dict(missing="drop"), ValueError, "^missing = 'drop': must be one of 'error', 'ignore'"),
    "joint, bounded": (dict(joint=True, max_slope=1), ValueError, "^max_slope = 1 cannot be combined with joint = true"),
    "float categories": (dict(category=SCORE), TypeError, "^category has dtype float64: expected integers"),
    "texts as categories": (dict(category=["a"] * N), TypeError, "^category has dtype .*: expected integers"),
    "fewer categories": (dict(category=CATEGORY[1:]), ValueError, "^category has length 299, but score has length 300"),
    "two columns of categories": (dict(category=MASS[:, :2].astype(int)), ValueError, r"^category has shape \(300, 2\)"),
    "another name": (dict(categories=CATEGORY), TypeError, "^unknown option 'categories': did you mean category"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_bad_input(name):
    arguments, kind, message = BAD[name]
    with pytest.raises(kind, match=message):
        evaluate(**arguments)


def test_a_bad_batch_names_the_variable_and_the_category():
    with pytest.raises(libmode.BatchError, match="^variable 1 of mass: too few events: 300 selected"):
        evaluate(bins=[5, N + 1])
    with pytest.raises(libmode.BatchError, match="^events of category = 2: "):
        libmode.mode_loss(SCORE, MASS[:, 0], category=np.where(np.arange(N) < 3, 2, 1), bins=5)


LOOKING = {
    "edges": lambda mass, **options: libmode.mode_edges(mass, **options),
    "moments": lambda mass, **options: libmode.mode_moments(SCORE, mass, **options),
}


@pytest.mark.parametrize("name", LOOKING)
def test_what_looks_inside_is_for_one_variable_at_a_time(name):
    look = LOOKING[name]
    with pytest.raises(ValueError, match=r"^mass has shape \(300, 2\): .*one variable at a time"):
        look(MASS[:, :2])
    with pytest.raises(ValueError, match="^bins has 2 entries, but mass has 1 variable"):
        look(MASS[:, 0], bins=(2, 3))
    with pytest.raises(TypeError, match="^category: .*one category at a time"):
        look(MASS[:, 0], category=CATEGORY)


def test_the_edges_of_a_bin_for_each_value():
    years = np.array([2016, 2018, 2016, 2017, 2018])
    assert libmode.mode_edges(years, binning="values").tolist() == [2016, 2016.5, 2017.5, 2018]
    assert len(libmode.mode_edges(np.arange(100.0), binning="values")) == 101
