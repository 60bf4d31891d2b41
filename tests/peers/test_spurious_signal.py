"""The fits of signal_bias and spurious_signal, by toys of NumPy and by densities of SciPy."""

import numpy as np
import pytest
from libmode import metrics
from scipy.integrate import quad
from scipy.optimize import minimize
from scipy.stats import norm, poisson

EDGES = np.linspace(50, 250, 26)
ENERGY = 500.0
# The density of each background, up to a factor, and its degree. All fall by a factor of 8 or more.
DENSITIES = {
    "polynomial": (lambda m: 1 - 1.4 * (m - 50) / 200 + 0.6 * ((m - 50) / 200) ** 2, 2),
    "exponential": (lambda m: np.exp(-m / 70), 1),
    "power": (lambda m: m**-1.5, 1),
    "dijet": (lambda m: (1 - m / ENERGY) ** 4 * (m / ENERGY) ** (-1 - 0.2 * np.log(m / ENERGY)), 3),
}
SCAN = {"bins": EDGES, "signal_width": 6, "order": 0}
SIGNAL = {"bins": EDGES, "signal_mass": 120, "signal_width": 8, "order": 0}
each = pytest.mark.parametrize("background", DENSITIES)


def masses(background, rng, mean, strength=0.0):
    """A Poisson number of events, from the inverse of the distribution function."""
    at = np.linspace(50, 250, 4001)
    density = DENSITIES[background][0](at) + strength * norm(120, 8).pdf(at)
    below = np.concatenate([[0], np.cumsum(density[1:] + density[:-1])])
    return np.interp(rng.random(rng.poisson(mean)), below / below[-1], at)


def bias(background, mass, **more):
    options = {"background": background, "background_order": DENSITIES[background][1], "energy": ENERGY} | more
    return metrics.signal_bias(mass=mass, **SIGNAL, **options)


def test_pulls_of_a_template_times_a_line():
    """The spectrum before the selection, of no simple shape, times a line in mass: what a loss of order 1 allows."""
    rng = np.random.default_rng(11)
    at = (EDGES[1:] + EDGES[:-1]) / 2
    before = np.exp(-at / 60) * (1 + 0.5 * np.sin(at / 20))
    mean = 5000 * before * (at / 100) / np.sum(before * at / 100)
    pulls = []
    for _ in range(500):
        mass = np.repeat(at, rng.poisson(mean))
        pulls.append(metrics.signal_bias(mass=mass, background=before, **SIGNAL | {"order": 1}).significance)
    assert np.mean(pulls) == pytest.approx(0, abs=0.1)
    assert np.std(pulls) == pytest.approx(1, abs=0.1)
    sculpted = np.repeat(at, rng.poisson(mean + 400 * norm(120, 8).pdf(at) * 8))
    assert metrics.signal_bias(mass=sculpted, background=before, **SIGNAL | {"order": 1}).significance > 5


def test_a_flat_template_is_a_polynomial():
    edges = np.array([50, 60, 75, 100, 120, 135, 150, 170, 200, 250])
    mass = masses("polynomial", np.random.default_rng(12), 3000)
    given = SIGNAL | {"mass": mass, "bins": edges, "background_order": 2}
    flat, plain = (metrics.signal_bias(background=one, **given) for one in (3 * np.diff(edges), "polynomial"))
    assert (flat.signal, flat.error, flat.chi2) == pytest.approx((plain.signal, plain.error, plain.chi2), rel=1e-3)


@each
@pytest.mark.parametrize("kept", [0.01, 0.05])
def test_the_error_covers_in_tight_selections(background, kept):
    """200 and 1000 events of 20,000."""
    rng = np.random.default_rng(7)
    pulls = np.abs([bias(background, masses(background, rng, 20_000 * kept)).significance for _ in range(200)])
    assert np.isfinite(pulls).mean() > 0.99
    pulls = pulls[np.isfinite(pulls)]
    # Of a Gaussian 68.3 and 95.4 %; so many toys tell that to 3.3 and 1.5 %.
    assert (pulls < 1).mean() == pytest.approx(0.683, abs=0.08)
    assert (pulls < 2).mean() == pytest.approx(0.954, abs=0.05)


def test_bins_of_negative_weight_are_fitted():
    """So few events that many bins have a sum below 0: the signal is right on average all the same."""
    rng = np.random.default_rng(9)
    pulls, negative = [], 0
    for _ in range(200):
        mass = rng.uniform(50, 250, 600)
        weight = rng.choice([1.0, -1.0], 600, p=[0.65, 0.35])
        negative += (np.histogram(mass, EDGES, weights=weight)[0] < 0).sum()
        pulls.append(metrics.signal_bias(mass=mass, weight=weight, background_order=0, **SIGNAL).significance)
    assert negative > 0.05 * 200 * 25
    pulls = np.array(pulls)[np.isfinite(pulls)]
    assert len(pulls) > 195
    assert np.mean(pulls) == pytest.approx(0, abs=0.3)
    assert np.std(pulls) == pytest.approx(1, abs=0.3)


PARAMETERS = {
    "polynomial": lambda m, c: np.polyval(c[::-1], (m - 150) / 100),
    "exponential": lambda m, c: np.exp(c[0] + c[1] * (m - 150) / 100),
    "power": lambda m, c: np.exp(c[0] + c[1] * np.log(m / 100)),
    "dijet": lambda m, c: np.exp(
        c[0] + c[1] * np.log(1 - m / ENERGY) + c[2] * np.log(m / ENERGY) + c[3] * np.log(m / ENERGY) ** 2
    ),
}


@each
def test_the_fit_is_the_maximum_of_the_likelihood_and_its_error_the_curvature(background):
    """Of densities that are integrated numerically, Poisson probabilities and a scan of the signal."""
    mass = masses(background, np.random.default_rng(10), 3000, strength=0.2)
    count = np.histogram(mass, EDGES)[0]
    ranges = list(zip(EDGES[:-1], EDGES[1:], strict=True))
    signal = np.array([quad(norm(120, 8).pdf, *r)[0] for r in ranges])
    found = bias(background, mass)
    # The background is looked for from where the true density is; 3000 events tell its parameters roughly.
    at = (EDGES[1:] + EDGES[:-1]) / 2
    density, function = DENSITIES[background][0](at), PARAMETERS[background]
    size, linear = DENSITIES[background][1] + 1, background == "polynomial"
    design = np.array([function(at, unit) for unit in np.eye(size)]).T
    target = density / density.sum() * 3000 / 8
    fitted = design if linear else np.log(design)
    scale = np.linalg.lstsq(fitted, target if linear else np.log(target), rcond=None)[0]

    def deviance(parameters, number):
        mu = np.array([quad(function, *r, args=(parameters,), epsrel=1e-10)[0] for r in ranges]) + number * signal
        return np.inf if mu.min() <= 0 else -2 * np.sum(poisson.logpmf(count, mu) - poisson.logpmf(count, count))

    whitened = np.linalg.inv(np.linalg.qr(fitted * np.sqrt(target if not linear else 1 / target)[:, None])[1])

    def profile(number):
        def moved(step):
            return deviance(scale + whitened @ step, number)

        return minimize(moved, np.zeros(size), method="BFGS", options={"gtol": 1e-4}).fun

    low, best, high = map(profile, found.signal + found.error * np.array([-0.2, 0, 0.2]))
    assert found.chi2 == pytest.approx(best, abs=2e-3)
    assert low - best == pytest.approx(0.04, rel=0.1)
    assert high - best == pytest.approx(0.04, rel=0.1)
    assert found.ndof == 25 - size - 1 and found.background_order == size - 1


@each
def test_the_f_test_finds_the_order_of_the_toys(background):
    """Never too low an order, and too high a one in few cases."""
    rng, order = np.random.default_rng(11), DENSITIES[background][1]
    toys = [bias(background, masses(background, rng, 20_000), background_order=None) for _ in range(40)]
    chosen = np.array([toy.background_order for toy in toys])
    least = {"dijet": 2}.get(background, order)  # a third of the size of the square term is hard to see
    assert chosen.min() >= least
    assert (chosen <= order).mean() > 0.75


def test_the_f_test_sees_all_background_and_the_fit_has_the_order_of_the_selection_too():
    """A line in mass selects, and a bump: neither is in the background before."""
    rng = np.random.default_rng(3)
    mass = masses("exponential", rng, 20_000)
    score = rng.random(len(mass)) * mass / 250 + 0.4 * np.exp(-(((mass - 120) / 8) ** 2) / 2)
    given = SIGNAL | {"mass": mass, "background": "exponential"}
    found = metrics.signal_bias(score, threshold=0.3, **given | {"order": 1})
    before = metrics.signal_bias(**given)
    assert found.background_order == before.background_order
    assert found.ndof == before.ndof - 1 and found.selected == (score >= 0.3).sum()
    fixed = {"background_order": before.background_order + 1}
    alone = metrics.signal_bias(**given | {"mass": mass[score >= 0.3]} | fixed)
    assert (found.signal, found.error) == (alone.signal, alone.error)
    assert found.significance > 5


def test_the_f_test_sees_a_cubic_term_behind_a_square_one_that_is_missing():
    rng = np.random.default_rng(5)
    x = rng.uniform(-1, 1, 100_000)
    x = x[rng.random(len(x)) * 1.8 < 1 + 0.8 * (5 * x**3 - 3 * x) / 2]
    assert metrics.signal_bias(mass=150 + 100 * x, **SIGNAL).background_order == 3
    lines = np.where(rng.random(len(x)) < 0.5, 150 + 100 * x, rng.normal(150, 0.5, len(x)))
    for background in DENSITIES:
        with pytest.raises(ValueError, match=f"no {background} background of order"):
            metrics.signal_bias(mass=lines, background=background, energy=ENERGY, **SIGNAL)


@each
def test_masses_without_events_are_nan_and_no_others(background):
    mass = masses(background, np.random.default_rng(12), 4000)
    mass = mass[mass < 170]
    options = {"background": background, "background_order": DENSITIES[background][1], "energy": ENERGY}
    found = metrics.spurious_signal(mass=mass, signal_masses=[90, 120, 215], **SCAN, **options)
    for values in (found.signal, found.error, found.significance):
        np.testing.assert_array_equal(np.isnan(values), [False, False, True])


def test_the_width_is_a_number_or_one_for_each_mass():
    mass = masses("exponential", np.random.default_rng(14), 3000)

    given = {"mass": mass, "bins": EDGES, "background": "exponential", "background_order": 1, "order": 0}

    def scan(width):
        return metrics.spurious_signal(signal_masses=[90, 120], signal_width=width, **given).signal

    np.testing.assert_array_equal(scan(8), scan([8, 8]))
    assert scan(8)[1] == scan([6, 8])[1] == metrics.signal_bias(signal_mass=120, signal_width=8, **given).signal
    with pytest.raises(ValueError, match=r"signal_width\[1\] = -8.0: must be positive and finite"):
        scan([22, -8])


@pytest.mark.parametrize("cut", [None, 0.4])
def test_a_histogram_is_fitted_like_its_events(cut):
    rng = np.random.default_rng(15)
    mass = masses("exponential", rng, 4000)
    score, weight = rng.random(len(mass)), rng.choice([1.0, -0.5], len(mass), p=[0.9, 0.1])
    axes = [EDGES, np.linspace(0, 1, 11)]
    histogram = tuple(np.histogram2d(mass, score, axes, weights=weight**k)[0] for k in (1, 2)) + tuple(axes)
    options = {"background": "exponential", "order": 0, "signal_width": 8}
    events = (None if cut is None else score), None, mass
    want = metrics.spurious_signal(
        *events, weight=weight, bins=EDGES, signal_masses=[90, 120], threshold=cut, **options
    )
    found = metrics.spurious_signal(histogram, signal_masses=[90, 120], threshold=cut, **options)
    np.testing.assert_allclose([found.signal, found.error], [want.signal, want.error], rtol=1e-6)
    assert found.background_order == want.background_order
    one = metrics.signal_bias(histogram, signal_mass=120, threshold=cut, **options)
    assert one.signal == pytest.approx(want.signal[1], rel=1e-6)


def test_a_search_chooses_bins_masses_and_widths_from_the_events():
    rng = np.random.default_rng(16)
    label = np.repeat([0, 1], [40_000, 4_000])
    signal = np.concatenate([rng.normal(90, 4, 2_000), rng.normal(170, 9, 2_000)])
    mass = np.concatenate([50 + rng.exponential(60, 40_000), signal])
    score = rng.normal(1.0 * label)
    low, high = np.quantile(mass[label == 0], [0.025, 0.975])
    found = metrics.spurious_signal(score, label, mass, signal_efficiency=0.5, order=0, signal_width=8)
    assert found.signal_mass[[0, -1]] == pytest.approx([low + 16, high - 16])
    assert np.abs(found.significance).max() < 4
    at = int(np.argmax(np.abs(found.signal)))
    assert found.largest == (found.signal_mass[at], found.signal[at], found.error[at])
    np.testing.assert_allclose(np.diff(found.signal_mass), np.diff(found.signal_mass)[0])
    # Two peaks are no signal of one width.
    with pytest.raises(ValueError, match=r"the signal has a width of 4\d.* in mass, .*, see signal_width"):
        metrics.spurious_signal(score, label, mass, order=0, signal_efficiency=0.5, signal_masses=[90, 170])


def test_a_fit_that_absorbs_a_bump_says_so():
    """A narrow peak of selected background, which the exponential of a parabola is too."""
    rng = np.random.default_rng(21)
    mass = 50 + rng.exponential(60, 100_000)
    kept = rng.random(len(mass)) < 0.5 * np.exp(-0.5 * ((mass - 120) / 12) ** 2)
    options = {"mass": mass, "signal_width": 10, "background": "exponential", "order": 1, "mass_range": (70, 300)}
    with pytest.warns(UserWarning, match="of order 2 absorbs most of a signal at"):
        peak = metrics.spurious_signal(selected=kept, signal_masses=[100, 120, 140], **options)
    assert (peak.error > 5 * peak.counting_error).any()
    flat = metrics.spurious_signal(selected=rng.random(len(mass)) < 0.1, **options)  # a warning would be an error
    assert np.nanmedian(flat.error / flat.counting_error) < 2


def test_the_counting_error_is_that_of_the_events_under_the_signal():
    """The information of N signal events is sum_b f_b^2 / mu_b, with f_b their fractions in the bins."""
    mass = masses("exponential", np.random.default_rng(22), 20_000)
    one = metrics.signal_bias(mass=mass, background="exponential", background_order=1, **SIGNAL)
    counts, middle = np.histogram(mass, EDGES)[0], (EDGES[1:] + EDGES[:-1]) / 2
    fraction = np.diff(EDGES) * np.exp(-0.5 * ((middle - 120) / 8) ** 2) / (8 * np.sqrt(2 * np.pi))
    assert one.counting_error == pytest.approx(np.sum(fraction**2 / counts) ** -0.5, rel=0.05)


def test_the_chi2_is_that_of_the_background_alone():
    """Of a peak it is large; each of its degrees of freedom adds one where there is none."""
    rng = np.random.default_rng(19)
    smooth = masses("exponential", rng, 6000)
    peaked = np.append(smooth, rng.normal(120, 6, 600))
    options = {"background": "exponential", "background_order": 1, "signal_masses": [120], **SCAN}
    flat, peak = (metrics.spurious_signal(mass=mass, **options) for mass in (smooth, peaked))
    assert flat.ndof == len(EDGES) - 1 - 2 and flat.chi2 < flat.ndof + 4 * (2 * flat.ndof) ** 0.5
    assert peak.chi2 > peak.ndof + 100
    one = metrics.signal_bias(mass=smooth, background="exponential", background_order=1, **SIGNAL)
    assert flat.chi2 > one.chi2 and flat.ndof == one.ndof + 1


def test_a_background_that_nearly_takes_the_shape_of_the_signal_is_refused():
    """The error would be a hundred times that of counting the events under the signal."""
    mass = masses("exponential", np.random.default_rng(20), 6000)
    with pytest.raises(ValueError, match="of order 12 can take the shape of the signal"):
        metrics.signal_bias(mass=mass, background_order=12, order=0, signal_mass=120, signal_width=25, bins=EDGES)
