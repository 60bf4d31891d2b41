"""What holds for any events and any options, on events and options that hypothesis chooses."""

import cases
import golden
import libmode
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

#: Two sums of the same numbers in another order differ by rounding, a few
#: 1e-16 of the terms; the terms exceed the largest gradient, which can vanish,
#: by no more than what these leave room for.
ROUNDING, FLOOR = 1e-10, 1e-12


def same(got, want, tolerance=ROUNDING, floor=FLOOR):
    """Compares (loss, gradient) pairs."""
    for g, w in zip(got, want, strict=True):
        golden.assert_close(g, w, tolerance, floor)


def loss_and_grad(case, **changed):
    return case.evaluate(libmode.mode_loss_and_grad, **changed)


@settings(max_examples=250)
@given(cases.cases())
def test_gradient_agrees_with_central_differences_of_the_loss(case):
    loss, grad = loss_and_grad(case)
    step = cases.GAP / 8  # below a quarter of the smallest gap: the loss is linear on either side
    shifts = step * np.eye(len(case.score))
    plus, minus = (
        np.array([case.evaluate(libmode.mode_loss, score=case.score + sign * shift) for shift in shifts])
        for sign in (1, -1)
    )
    # Rounding of the losses to 1e-14 or so is divided by the step.
    floor = 1e-13 * max(1, abs(loss)) / step
    golden.assert_close(grad, (plus - minus) / (2 * step), 1e-6, floor)


@given(cases.cases(), st.randoms(use_true_random=False))
def test_order_of_events_does_not_matter(case, random):
    order = random.sample(range(len(case.score)), len(case.score))
    arrays = {name: array[order] for name, array in case._asdict().items() if isinstance(array, np.ndarray)}
    loss, grad = loss_and_grad(case)
    same(loss_and_grad(case, **arrays), (loss, grad[order]), 1e-12, 1e-13)


@given(cases.cases(), st.floats(1e-3, 1e3))
def test_a_common_factor_of_the_weights_does_not_matter(case, factor):
    weight = np.ones(len(case.score)) if case.weight is None else case.weight
    same(loss_and_grad(case, weight=factor * weight), loss_and_grad(case))


@given(cases.cases(), st.sampled_from([0.25, 8.0, 256.0]), st.sampled_from([-3.0, 0.0, 64.0]))
def test_unit_and_origin_of_the_mass_do_not_matter(case, unit, origin):
    changed = {"mass": origin + unit * case.mass}
    for name in ("mass_range", "edges"):
        if case.options.get(name) is not None:
            changed[name] = [origin + unit * end for end in case.options[name]]
    same(loss_and_grad(case, **changed), loss_and_grad(case), 1e-9)


@given(cases.cases(score_range=None), st.sampled_from([-8.0, 0.5, 1024.0]))
def test_origin_of_raw_scores_does_not_matter(case, origin):
    same(loss_and_grad(case, score=case.score + origin), loss_and_grad(case), 1e-12, 1e-13)


@given(cases.cases(score_range=(0, 1)))
def test_gradient_does_not_depend_on_the_ends_of_the_range(case):
    # Scores at the ends too: J is taken as going on outside.
    score = case.score.copy()
    score[score == score.min()], score[score == score.max()] = 0, 1
    inside, wider = (loss_and_grad(case, score=score, score_range=ends) for ends in ((0, 1), (-1, 3)))
    golden.assert_close(inside[1], wider[1], ROUNDING, FLOOR)


@given(cases.cases(labels=2))
def test_loss_of_two_labels_is_the_sum_of_their_losses(case):
    total, want = 0.0, np.empty(len(case.score))
    for label in (0, 1):
        mine = case.label == label
        weight = None if case.weight is None else case.weight[mine]
        alone = case._replace(score=case.score[mine], mass=case.mass[mine], weight=weight, label=None)
        loss, want[mine] = loss_and_grad(alone)
        total += loss
    same(loss_and_grad(case), (total, want))


@given(cases.cases(), st.data())
def test_events_of_other_labels_are_never_looked_at(case, data):
    label = np.zeros(len(case.score), np.int32) if case.label is None else case.label
    at = data.draw(st.integers(0, len(label)))
    bad = [np.nan, np.inf, -np.inf, 7.0]
    more = {
        name: np.insert(array, at, bad)
        for name, array in (("score", case.score), ("mass", case.mass), ("weight", case.weight))
        if array is not None
    }
    loss, grad = loss_and_grad(case, label=np.insert(label, at, [9, 2, -1, 3]), **more)
    same((loss, np.delete(grad, range(at, at + 4))), loss_and_grad(case, label=label), 0, 0)
    assert (grad[at : at + 4] == 0).all()


@given(cases.cases())
def test_events_outside_the_mass_range_have_gradient_exactly_0(case):
    _, grad = loss_and_grad(case)
    assert (grad[~case.takes_part] == 0).all()


@given(st.integers(0, 4), st.data())
def test_projection_of_a_polynomial_response_leaves_no_loss(order, data):
    # Several events at each mass, one at each of a few scores: their weights make the share of that mass with
    # scores up to s a polynomial in the mass, at each s. The masses lie anywhere in bins of any widths.
    bins = data.draw(st.integers(order + 2, 10))
    edges = np.array([0, *np.cumsum(data.draw(st.lists(st.integers(1, 8), min_size=bins, max_size=bins)))]) / 4
    at = st.tuples(st.integers(0, bins - 1), st.floats(0, 1, exclude_max=True), st.sampled_from([0.25, 1.0, 3.0]))
    bin_, offset, size = np.array(
        [(b, 0.5, 1.0) for b in range(bins)] + data.draw(st.lists(at, min_size=1, max_size=20))
    ).T
    below, above = edges[bin_.astype(int)], edges[bin_.astype(int) + 1]
    place = below + offset * (above - below)
    coefficients = st.lists(st.floats(-1, 1), min_size=order + 1, max_size=order + 1)
    drawn = data.draw(st.lists(coefficients, min_size=1, max_size=5))
    share = [np.polynomial.legendre.legval(2 * place / edges[-1] - 1, c) for c in drawn]
    weight = size * np.diff([0 * place, *share, 1 + 0 * place], axis=0)
    score = np.repeat(np.arange(1, len(weight) + 1) / (len(weight) + 1), len(place))
    loss = libmode.mode_loss(
        score, np.tile(place, len(weight)), weight=weight.ravel(),
        order=order, moments="projection", unbiased=False, edges=edges,
    )  # fmt: skip
    # J is a sum of squares of what sums and a fit of terms up to max F leave, which are rounded to 1e-16.
    assert abs(loss) < 1e-14 * max(1, np.max(np.square(share)))


def test_mean_loss_of_a_response_that_is_linear_in_mass_is_zero_on_a_falling_spectrum():
    # The bins are wide, so that the density falls by a factor of 20 inside the last one. With the polynomials
    # of bin centres the mean was 1.7e-5 +- .2e-5. Scores have the CDF s + a s (1 - s), a linear in the mass.
    rng, losses = np.random.default_rng(5), []
    for _ in range(300):
        mass = rng.exponential(size=20_000)
        mass = mass[mass < 6]
        slope, uniform = mass / 3 - 1, rng.random(len(mass))
        score = 2 * uniform / (1 + slope + np.sqrt((1 + slope) ** 2 - 4 * slope * uniform))
        losses.append(
            libmode.mode_loss(score, mass, order=1, moments="projection", unbiased=True, edges=[0, 0.5, 1.5, 3, 6])
        )
    error = np.std(losses, ddof=1) / np.sqrt(len(losses))
    assert abs(np.mean(losses)) < 4 * error
    assert error < 2e-6


@given(st.integers(0, 16), st.data())
def test_plain_loss_is_not_negative(order, data):
    # Bins of very different widths and hardly more of them than coefficients: they are fitted, or refused.
    inner = data.draw(st.sets(st.integers(1, 255), min_size=order, max_size=order + 2))
    edges = np.array([0, *sorted(inner), 256]) / 256
    bins = len(edges) - 1
    offset = np.array(data.draw(st.lists(st.floats(0, 0.9), min_size=2 * bins, max_size=2 * bins)))
    mass = np.tile(edges[:-1], 2) + offset * np.tile(np.diff(edges), 2)
    score = np.array(data.draw(st.lists(st.integers(1, 9), min_size=2 * bins, max_size=2 * bins))) / 10
    try:
        loss = libmode.mode_loss(score, mass, edges=edges, order=order, moments="projection", unbiased=False)
    except ValueError as error:
        assert "nearly coincide" in str(error)
    else:
        assert loss > -1e-12


LARGE = {
    "order 0": {},
    "order 2": dict(order=2),
    "bounded": dict(order=3, max_slope=0.7, monotonic=True),
    "unbiased": dict(order=1, unbiased=True, slope_penalty=0.2),
    "all": dict(order=2, max_slope=0.7, slope_of="selected", monotonic=True, unbiased=True, moments="projection"),
    "uniform bins": dict(order=1, binning="uniform", mass_range=(0, 3), score_range=None, reduction="sum"),
}


@pytest.mark.parametrize("name", LARGE)
@pytest.mark.parametrize("weighted", [False, True], ids=["unweighted", "weighted"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64], ids=lambda dtype: dtype.__name__)
def test_bits_do_not_depend_on_the_number_of_threads(threads, name, weighted, dtype):
    rng = np.random.default_rng(7)
    n = 300_000  # about ten times the block of events that a thread takes at once
    score, mass = rng.random(n, dtype), rng.exponential(size=n).astype(dtype)
    weight = rng.normal(1, 0.5, n).astype(dtype) if weighted else None
    results = []
    for count in (1, 2, 2, 5):
        threads(count)
        results.append(libmode.mode_loss_and_grad(score, mass, weight=weight, **LARGE[name]))
    loss, grad = results[0]
    for other_loss, other_grad in results[1:]:
        assert other_loss == loss
        assert other_grad.tobytes() == grad.tobytes()
