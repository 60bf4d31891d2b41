"""Masses of several variables, categories, and the options that each variable has of its own, through NumPy."""

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


OF_EACH = {
    "bins, one left out": {"bins": [4, None]},
    "bins, array": {"bins": np.array([4, 9])},
    "mass_range": {"mass_range": [(60, 200), (-1, 1.5)]},
    "mass_range, array": {"mass_range": np.array([[60, 200], [-1, 1.5]])},
    "edges": {"edges": [(50, 80, 120, 900), np.array([-9, -0.5, 0.5, 1, 9])], "bins": None},
    "several": {"bins": (4, 9), "mass_range": [(60, 200), None], "binning": "uniform", "unbiased": False},
}


@pytest.mark.parametrize("name", OF_EACH)
def test_each_variable_has_options_of_its_own(name):
    """One by one the loss is the mean of the losses of the columns with the options of each."""
    options = OF_EACH[name]
    each = ("bins", "mass_range", "edges")

    def of(k):
        return {key: value[k] if key in each and value is not None else value for key, value in options.items()}

    mass = np.column_stack([np.minimum(MASS[:, 0], 800), MASS[:, 1]])
    want = mean([evaluate(mass[:, k], **of(k)) for k in range(2)])
    assert_same(evaluate(mass, **options), want)


LAYOUTS = {
    "Fortran": np.asfortranarray,
    "rows of a transposed array": lambda mass: np.ascontiguousarray(mass.T).T,
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


# ----------------------------------------------------------------- categories


@pytest.mark.parametrize("dtype", [*"?bBhHiIlLqQ", ">i4", ">u2"])
def test_categories_of_every_type(dtype):
    category = CATEGORY.astype(dtype)
    want = libmode.mode_loss_and_grad(SCORE, MASS[:, 0], weight=WEIGHT, category=category.astype(int), bins=5, order=0)
    given = (category, category[:, None], np.repeat(category, 2)[::2], pd.Series(category), category.tolist())
    for array in given:
        assert_same(libmode.mode_loss_and_grad(SCORE, MASS[:, 0], weight=WEIGHT, category=array, bins=5, order=0), want)
