"""Sums over cells of score and mass stand for the events: the core says what the events give, and metrics too."""

import io
import itertools
import pickle
import subprocess
import sys

import libmode
import numpy as np
import pytest
from libmode import Accumulator, metrics

EDGES = [50, 60, 75, 90, 110, 140, 180, 250]
CELLS = 512
OPTIONS = [
    {},
    {"order": 1},
    {"order": 3},
    {"order": 6},
    {"order": 2, "moments": "quadrature"},
    {"order": 1, "slope_penalty": 0.5},
    {"order": 1, "max_slope": 0.3},
    {"order": 1, "max_slope": 0.3, "slope_of": "selected"},
    {"order": 2, "max_slope": 0.3, "moments": "quadrature"},
    {"order": 2, "monotonic": True},
    {"order": 4, "monotonic": True, "max_slope": 0.5, "slope_penalty": 0.2},
]
WEIGHTS = ["none", "positive", "either sign"]


def events(weights="none", n=3000, seed=1, limits=(0.0, 1.0), cells=CELLS):
    """Scores at the centres of cells, more of them the higher the mass, of which some are outside of the bins."""
    rng = np.random.default_rng(seed)
    mass = 48 + rng.exponential(60, n)
    cell = np.clip(((rng.beta(2, 3, n) + 0.002 * mass) * 0.6 * cells).astype(int), 0, cells - 1)
    score = limits[0] + (limits[1] - limits[0]) * (cell + 0.5) / cells
    weight = {"none": None, "positive": rng.exponential(3, n), "either sign": rng.normal(1, 0.8, n)}[weights]
    return score, mass, weight


def filled(score, mass, weight=None, label=None, scores=CELLS, **options):
    accumulator = Accumulator(scores=scores, **{"edges": EDGES, **options})
    accumulator.add(score, mass, weight=weight, label=label)
    return accumulator


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_scores_at_the_centres_of_cells_have_the_loss_of_the_core(options, weights):
    score, mass, weight = events(weights)
    for more in ({}, {"unbiased": False, "reduction": "sum"}):
        accumulator = filled(score, mass, weight, **options, **more)
        wanted = libmode.mode_evaluate(score, mass, weight=weight, edges=EDGES, **options, **more)
        found = accumulator.evaluate()
        assert found.loss == pytest.approx(wanted.loss, abs=1e-12)
        assert found.bias == pytest.approx(wanted.bias, abs=1e-12)
        assert found.events == pytest.approx(wanted.events, rel=1e-12)
        assert accumulator.loss() == found.loss
        at = np.linspace(0, 1, 41)
        ours, theirs = (
            accumulator.moments(at),
            libmode.mode_moments(score, mass, weight=weight, at=at, edges=EDGES, **options),
        )
        for name, own, its in zip(ours._fields, ours, theirs, strict=True):
            np.testing.assert_allclose(own, its, atol=1e-12, err_msg=name)


@pytest.mark.parametrize("slope_of", ["rejected", "selected"])
def test_max_slope_changes_nothing_where_all_bins_have_the_same_scores(slope_of):
    # c_1 is 0 there: the derivative of the bounded moment by it is 1, and so the bias was wrong.
    options = {"order": 1, "edges": [0, 4, 8], "max_slope": 3, "slope_of": slope_of}
    assert filled([0.1, 0.9, 0.9, 0.9] * 2, np.arange(8.0), scores=5, **options).loss() == pytest.approx(0, abs=1e-15)


def test_scores_at_the_lower_edges_of_cells_have_it_too():
    score, mass, _ = events()
    lower = score - 0.5 / CELLS
    for order in (0, 2):
        assert filled(lower, mass, order=order).loss() == pytest.approx(
            libmode.mode_loss(lower, mass, order=order, edges=EDGES), abs=1e-12
        )


@pytest.mark.parametrize("kind", [np.float64, np.float32, np.float16, np.int64])
def test_other_ranges_bins_and_types(kind):
    score, mass, weight = events("positive", limits=(-2, 6), cells=8)  # the centres are -1.5, -0.5, ...
    score, mass = (score + 0.5).astype(kind), np.rint(mass).astype(kind)  # -1, 0, ...: all in every type
    options = {"binning": "uniform", "bins": 5, "mass_range": (48, 128), "score_range": (-1.5, 6.5), "order": 1}
    accumulator = Accumulator(scores=8, **options)
    accumulator.add(score, mass, weight=weight)
    assert accumulator.loss() == pytest.approx(libmode.mode_loss(score, mass, weight=weight, **options), abs=1e-12)
    np.testing.assert_array_equal(accumulator.edges, np.linspace(48, 128, 6))


def test_limits_are_rounded_outwards_to_the_type():
    score = np.array([0.1, 0.7, 0.3, 0.7], np.float32)  # 0.7 is a little more than itself, and 0.1 too
    mass = np.array([0.2, 0.5, 0.6, 0.8], np.float32)
    options = {"edges": [0.2, 0.55, 0.8], "score_range": (0.1, 0.7)}
    accumulator = filled(score, mass, **options)
    assert accumulator.evaluate().events == 4
    assert accumulator.loss() == pytest.approx(
        libmode.mode_loss(score, mass, **options), abs=accumulator.evaluate().error
    )


def hardest(rng, cells, n, weights):
    """Events on the edges of few cells, so that those of some bins lie at the lower, of others at the upper end."""
    mass = rng.uniform(50, 250, n)
    cell = rng.integers(0, cells, n)
    at_top = np.isin(np.searchsorted(EDGES, mass), rng.choice(len(EDGES), 4)) ^ (rng.random(n) < 0.05)
    score = np.where(at_top, np.nextafter((cell + 1) / cells, 0), cell / cells)
    weight = {"none": None, "positive": rng.exponential(1, n), "either sign": rng.normal(1, 0.5, n)}[weights]
    return score, mass, weight


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_the_loss_of_any_scores_is_within_the_error(options, weights):
    rng = np.random.default_rng(7)
    share = []
    for cells, unbiased in itertools.product((1, 2, 7, 60), (True, False)):
        for _ in range(3):
            score, mass, weight = hardest(rng, cells, 1500, weights)
            found = filled(score, mass, weight, scores=cells, unbiased=unbiased, **options).evaluate()
            true = libmode.mode_loss(score, mass, weight=weight, edges=EDGES, unbiased=unbiased, **options)
            assert abs(true - found.loss) <= found.error + 1e-13
            share.append(abs(true - found.loss) / (found.error + 1e-13))
    assert max(share) > 1e-3  # else it says nothing


def test_the_error_is_small():
    rng = np.random.default_rng(3)
    n = 200_000
    mass = rng.uniform(50, 250, n)
    for score, most in ((rng.random(n), 0.05), (np.clip(mass / 400 + 0.3 * rng.random(n), 0, 1), 2)):
        for cells in (1000, 10_000):
            found = filled(score, mass, scores=cells).evaluate()
            true = libmode.mode_loss(score, mass, edges=EDGES)
            assert abs(true - found.loss) <= found.error < most / cells
    one_cell = filled(np.full(100, 0.5), np.linspace(50, 250, 100), scores=10).evaluate()
    assert one_cell.error < 8 / 10 + one_cell.bias


def parts(weights, n=5000, pieces=7):
    score, mass, weight = events(weights, n)
    label = np.random.default_rng(0).integers(0, 3, n)
    chosen = np.array_split(np.arange(n), pieces)
    options = {"order": 3}
    whole = filled(score, mass, weight, label, **options)
    several = [filled(score[k], mass[k], None if weight is None else weight[k], label[k], **options) for k in chosen]
    return whole, several


def test_parts_without_weights_are_the_whole_to_the_bit_in_any_order():
    whole, several = parts("none")
    for order in ([0, 1, 2, 3, 4, 5, 6], [6, 3, 0, 5, 1, 2, 4]):
        total = several[order[0]] + several[order[1]]
        for k in order[2:]:
            total.merge(several[k])
        assert total.evaluate() == whole.evaluate() and total.added == whole.added == 5000
        for own, its in zip(total.moments(), whole.moments(), strict=True):
            np.testing.assert_array_equal(own, its)
        assert total.auc() == whole.auc()
    assert several[0].added == 715  # `+` leaves its terms alone


@pytest.mark.parametrize("weights", ["positive", "either sign"])
def test_parts_with_weights_are_the_whole(weights):
    """Accumulators of parts add up to that of all events.

    Reason: they hold sums over the events of cells of score and mass.
    Holds: for weights of either sign; without weights to the last bit, in any order of the parts.
    """
    whole, several = parts(weights)
    total = sum(several[1:], several[0])
    np.testing.assert_allclose(total.evaluate(), whole.evaluate(), rtol=1e-12, atol=1e-14)
    assert total.auc() == pytest.approx(whole.auc(), abs=1e-12)


def test_parts_with_and_without_weights():
    score, mass, weight = events("either sign")
    half = len(score) // 2
    joined = np.append(np.ones(half), weight[half:])
    wanted = libmode.mode_evaluate(score, mass, weight=joined, order=1, edges=EDGES)
    plain = filled(score[:half], mass[:half], order=1)
    weighted = filled(score[half:], mass[half:], weight[half:], order=1)
    for found in (plain + weighted, weighted + plain):
        np.testing.assert_allclose(found.evaluate()[:2], (wanted.loss, wanted.bias), atol=1e-12)
    plain.add(score[half:], mass[half:], weight=weight[half:])
    weighted.add(score[:half], mass[:half])
    for found in (plain, weighted):
        np.testing.assert_allclose(found.evaluate()[:2], (wanted.loss, wanted.bias), atol=1e-12)


@pytest.mark.parametrize("size", [1, 999, 70_000, 200_000])
def test_the_size_of_chunks_does_not_matter(size):
    n = 2000 if size == 1 else 150_000
    score, mass, _ = events(n=n)
    accumulator = Accumulator(order=2, edges=EDGES, scores=CELLS)
    accumulator.add([], [])
    for start in range(0, n, size):
        accumulator.add(score[start : start + size], mass[start : start + size, None])
    assert accumulator.evaluate() == filled(score, mass, order=2).evaluate()


def test_labels_choose_and_others_are_not_looked_at():
    score, mass, weight = events("positive")
    label = np.random.default_rng(0).integers(0, 4, len(score)).astype(float)
    label[:3] = np.nan
    score[label > 1] = np.nan
    weight[label > 1] = np.inf
    mass[label != 0] = np.nan  # signal has no mass
    accumulator = filled(score, mass, weight, label, order=1)
    assert accumulator.loss() == pytest.approx(
        libmode.mode_loss(score, mass, weight=weight, label=label, order=1, edges=EDGES), abs=1e-12
    )
    own = filled(score, mass, weight, label + 5, order=1, background_label=5, signal_label=6)
    assert own.evaluate() == accumulator.evaluate() and own.auc() == accumulator.auc()
    both = label <= 1
    assert own.auc() == pytest.approx(metrics.auc(score[both], label[both], weight=weight[both]), abs=1e-12)


def test_absent_masses():
    score, mass, _ = events()
    mass[::5] = np.nan
    found = filled(score, mass, missing="ignore").loss()
    assert found == pytest.approx(libmode.mode_loss(score, mass, edges=EDGES, missing="ignore"), abs=1e-12)


@pytest.mark.parametrize("weights", WEIGHTS)
def test_metrics_are_those_of_the_events_at_the_edges_of_cells(weights):
    rng = np.random.default_rng(5)
    _, mass, weight = events(weights, n=20_000)
    label = rng.integers(0, 2, len(mass))
    score = np.clip(rng.normal(0.4 + 0.1 * label + 0.0003 * mass, 0.15), 0, 1)
    accumulator = filled(score, mass, weight, label, order=2)
    background = label == 0
    own = None if weight is None else weight[background]
    for threshold in (100 / CELLS, 0.5, 1.0 - 100 / CELLS):
        given = mass[background], score[background] >= threshold, EDGES
        ours, theirs = accumulator.efficiency(threshold + 0.4 / CELLS), metrics.efficiency(*given, weight=own)
        for name in ("edges", "value", "error"):
            np.testing.assert_allclose(getattr(ours, name), getattr(theirs, name), atol=1e-12)
        for degree in (0, 1, 2):
            ours, theirs = (
                accumulator.flatness(threshold, degree=degree),
                metrics.flatness(*given, degree=degree, weight=own),
            )
            np.testing.assert_allclose([ours.rms, ours.expected], [theirs.rms, theirs.expected], rtol=1e-9)
        assert accumulator.flatness(threshold) == ours
        assert accumulator.jsd(threshold) == pytest.approx(metrics.jsd(*given, weight=own), rel=1e-9)
        assert accumulator.blind_jsd(threshold, base=3) == pytest.approx(metrics.blind_jsd(*given, weight=own, base=3))

    lower = np.floor(np.minimum(score, 1 - 0.5 / CELLS) * CELLS) / CELLS
    wanted, found = metrics.roc(lower, label, weight=weight), accumulator.roc()
    np.testing.assert_array_equal(found.threshold, wanted.threshold)
    np.testing.assert_allclose(found.signal_efficiency, wanted.signal_efficiency, atol=1e-12)
    np.testing.assert_allclose(found.false_positive_rate, wanted.false_positive_rate, atol=1e-12)
    assert accumulator.threshold(0.5) == metrics.threshold(lower, label, weight=weight)
    assert accumulator.rejection(0.8) == pytest.approx(
        metrics.rejection(lower, label, weight=weight, signal_efficiency=0.8)
    )
    if weight is None:
        cells = [
            np.bincount((lower[of] * CELLS).astype(int), minlength=CELLS) / of.sum() for of in (background, ~background)
        ]
        assert abs(accumulator.auc() - metrics.auc(score, label)) <= cells[0] @ cells[1] / 2


@pytest.mark.parametrize("weights", WEIGHTS)
def test_it_is_kept(weights, tmp_path):
    accumulator = parts(weights)[0]
    again = pickle.loads(pickle.dumps(accumulator))
    accumulator.save(tmp_path / "part")
    file = io.BytesIO()
    accumulator.save(file)
    file.seek(0)
    for kept in (
        again,
        Accumulator.load(tmp_path / "part"),
        Accumulator.load(str(tmp_path / "part")),
        Accumulator.load(file),
    ):
        assert kept.evaluate() == accumulator.evaluate() and kept.added == accumulator.added
        assert kept.auc() == accumulator.auc()
        kept.merge(accumulator)
        assert kept.added == 2 * accumulator.added and repr(kept) == repr(accumulator).replace("5000", "10000")
    if weights == "none":
        assert len(file.getvalue()) < accumulator.nbytes / 4  # counts in a byte or two each


def test_files_that_are_none(tmp_path):
    (tmp_path / "text").write_text("score")
    np.savez(tmp_path / "other.npz", score=np.zeros(3))
    for name in ("text", "other.npz"):
        with pytest.raises(ValueError, match=f"{name}.* is not what Accumulator.save wrote"):
            Accumulator.load(tmp_path / name)
    with pytest.raises(FileNotFoundError):
        Accumulator.load(tmp_path / "none")
    state = Accumulator(edges=EDGES, scores=2).__getstate__() | {"version": 99}
    with pytest.raises(ValueError, match="version = 99"):
        Accumulator.__new__(Accumulator).__setstate__(state)


ONE = {"score": [0.5, 0.6], "mass": [70.0, 80.0], "weight": [1.0, 1.0], "label": [0, 1]}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"score": [0.5, np.nan]}, r"score\[1\] = nan, number 4 of all events that were added: expected a number inside score_range = \[0, 1\]"),
        ({"score": [1.5, 0.5]}, r"score\[0\] = 1.5, number 3 of"),
        ({"score": [0.5, -np.inf]}, r"score\[1\] = -inf"),
        ({"mass": [np.inf, 80]}, r"mass\[0\] = inf, number 3 of all events that were added: expected a finite"),
        ({"mass": [np.nan, 80]}, r"mass\[0\] = nan"),
        ({"weight": [1, np.nan]}, r"weight\[1\] = nan"),
        ({"weight": [1e200, 1]}, r"weight\[0\] = 1e\+200.*of at most 1e\+90"),
        ({"score": [0.5]}, "mass has length 2, but score has length 1"),
        ({"label": [0, 1, 1]}, "label has length 3, but score has length 2"),
        ({"mass": [[1, 2], [3, 4]]}, r"mass has shape \(2, 2\): an accumulator is for one variable"),
        ({"score": ["a", "b"]}, "score has dtype"),
        ({"mass": None}, "mass is None"),
    ],
    ids=lambda value: "" if isinstance(value, str) else str(value),
)  # fmt: skip
def test_bad_events_are_named_and_none_is_added(change, message):
    accumulator = filled(*(np.array(ONE[name] * 2)[:3] for name in ONE))
    before = pickle.dumps(accumulator)
    with pytest.raises((ValueError, TypeError), match=message):
        accumulator.add(**{**ONE, **change})
    assert pickle.dumps(accumulator) == before


def test_a_bad_event_far_into_a_chunk_is_named_and_none_is_added():
    score, mass, _ = events(n=200_000)
    accumulator = filled(score, mass)
    before = accumulator.evaluate()
    score[150_000] = 2
    with pytest.raises(ValueError, match=r"score\[150000\] = 2, number 350000 of"):
        accumulator.add(score, mass)
    assert accumulator.evaluate() == before and accumulator.added == 200_000


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "binning = 'quantile' needs all masses at once: give edges"),
        ({"bins": 4}, "binning = 'quantile'"),
        ({"binning": "values"}, "binning = 'values' needs all masses"),
        ({"binning": "uniform", "bins": 4}, "needs bins and mass_range"),
        ({"binning": "uniform", "bins": 4, "mass_range": (2, 1)}, r"mass_range = \[2, 1\]"),
        ({"edges": [1, 2, 2]}, r"edges\[2\] = 2 must be greater"),
        ({"edges": [1]}, "edges has length 1"),
        ({"edges": []}, "edges"),
        ({"edges": [0, np.nan]}, r"edges\[1\] = NaN"),
        ({"edges": [[1, 2], [3, 4]]}, "edges.*several variables"),
        ({"edges": [-1e308, 0, 1e308]}, "edges|mass_range"),
        ({"edges": EDGES, "mass_range": (0, 1)}, "mass_range.*cannot be given together with edges"),
        ({"edges": EDGES, "joint": True}, "joint"),
        ({"edges": EDGES, "basis": "bspline"}, "basis = 'bspline' is not for an accumulator"),
        ({"edges": EDGES, "score_range": None}, "score_range = None: the grid"),
        ({"edges": EDGES, "score_range": (1, 0)}, r"score_range = \[1, 0\]"),
        ({"edges": EDGES, "background_label": (0, 2)}, "background_label = .* has one"),
        ({"edges": EDGES, "background_label": 1}, "signal_label = 1 is background_label too"),
        ({"edges": EDGES, "order": 7}, "order = 7 with moments = projection"),
        ({"edges": EDGES, "order": -1}, "order = -1"),
        ({"edges": EDGES, "max_slope": 0.5}, "max_slope"),
        ({"edges": EDGES, "scores": 0}, "scores = 0: must be at least 1"),
        ({"edges": EDGES, "scores": 1.5}, "scores = 1.5: must be an integer"),
        ({"edges": EDGES, "binn": 3}, "unknown option 'binn'"),
    ],
    ids=str,
)  # fmt: skip
def test_bad_options(options, message):
    with pytest.raises((ValueError, TypeError), match=message):
        Accumulator(**options)


def test_bad_calls():
    with pytest.raises(TypeError, match="are given by name"):
        Accumulator(1)
    accumulator = filled(*events()[:2], order=1)
    with pytest.raises(ValueError, match="order = 1, but 2 of the other accumulator"):
        accumulator.merge(filled(*events()[:2], order=2))
    with pytest.raises(ValueError, match=r"edges = \[50 ... 250\] \(8 numbers\), but \[50 ... 90\]"):
        accumulator + filled(*events()[:2], order=1, edges=EDGES[:4])
    with pytest.raises(TypeError, match="other is int"):
        accumulator.merge(3)
    with pytest.raises(TypeError):
        accumulator + 3
    for name in ("efficiency", "flatness", "jsd", "blind_jsd"):
        with pytest.raises((ValueError, TypeError), match="threshold = nan"):
            getattr(accumulator, name)(np.nan)
    with pytest.raises(ValueError, match=r"at\[0\] = nan"):
        accumulator.moments([np.nan])
    with pytest.raises(ValueError, match="degree = 2: polynomials were accumulated up to order = 1"):
        accumulator.flatness(0.5, degree=2)
    with pytest.raises(ValueError, match="label has no signal"):
        accumulator.auc()


def test_too_little_to_say_anything():
    empty = Accumulator(edges=EDGES, scores=4)
    for call in (empty.loss, empty.evaluate, empty.moments):
        with pytest.raises(libmode.BatchError, match="no event: none of the 0 that were added"):
            call()
    for call in (empty.efficiency, empty.jsd):
        with pytest.raises(ValueError, match="no event"):
            call(0.5)
    outside = filled([0.5], [1000.0], scores=4)
    with pytest.raises(libmode.BatchError, match=r"none of the 1 that were added is background .* inside \[50, 250\]"):
        outside.loss()
    half = filled([0.5, 0.6], [55.0, 56.0], scores=4)
    with pytest.raises(libmode.BatchError, match=r"bin 1 of 7, mass in \[60, 75\), has sum of weights 0"):
        half.loss()
    single = filled([0.5, 0.6], [55.0, 70.0], scores=4, edges=[50, 60, 80])
    with pytest.raises(libmode.BatchError, match=r"bin 0 of 2, .*= 1 effective events"):
        single.loss()
    assert filled([0.5, 0.6], [55.0, 70.0], scores=4, edges=[50, 60, 80], unbiased=False).loss() == pytest.approx(
        0, abs=1e-15
    )
    score, mass, weight = events("positive")
    first = np.flatnonzero((mass > 50) & (mass < 60))[0]
    for share, effective in ((50, 1.04), (30, 1.07)):  # how often the weight of the others of its bin the first one has
        weight[first] = 0
        weight[first] = share * weight[(mass >= 50) & (mass < 60)].sum()
        dominated = filled(score, mass, weight, order=1)
        if effective < 1.05:
            with pytest.raises(libmode.BatchError, match=r"bin 0 of 7, .* = 1\.04 effective events, .* at least 1\.05"):
                dominated.loss()
        else:
            wanted = libmode.mode_loss(score, mass, weight=weight, order=1, edges=EDGES)
            assert dominated.loss() == pytest.approx(wanted, abs=1e-12)
    cancelled = filled([0.5, 0.6], [55.0, 56.0], [1.0, -1.0], scores=4, edges=[50, 60])
    with pytest.raises(libmode.BatchError, match="has sum of weights 0"):
        cancelled.loss()


def chunks(mass, pieces):
    return np.array_split(mass, pieces)


@pytest.mark.parametrize("shift", [0, -70, 1e6])
def test_edges_of_chunks_are_quantiles(shift):
    rng = np.random.default_rng(2)
    mass = shift + rng.permutation(np.concatenate([rng.exponential(60, 30_000), rng.normal(0, 300, 300)]))
    for given, reach in ((None, 2**-18), ((shift + 10.0, shift + 150.0), 2**-20)):
        inside = mass if given is None else mass[(mass >= given[0]) & (mass <= given[1])]
        exact = np.quantile(inside, np.arange(1, 16) / 16)
        low, high = given or (mass.min(), mass.max())
        near = np.diff(np.sort(inside))[len(inside) // 32 : -len(inside) // 32].max()  # of masses next to an edge
        for pieces in (1, 40):
            edges = Accumulator.edges_of(chunks(mass, pieces), bins=16, mass_range=given)
            assert (edges[0], edges[-1]) == (low, high) and len(edges) == 17
            assert np.abs(edges[1:-1] - exact).max() <= (high - low) * reach + near
            counts = np.histogram(inside, edges)[0]
            assert np.abs(counts - len(inside) / 16).max() <= 4
    Accumulator(edges=edges, scores=4)


def test_edges_of_equal_masses():
    ages = np.random.default_rng(2).integers(20, 25, 1000)
    edges = Accumulator.edges_of([ages], bins=32)
    counts = np.histogram(ages, edges)[0]
    np.testing.assert_array_equal(np.sort(counts), np.sort(np.bincount(ages)[20:]))  # an age, a bin
    for bad, message in [
        (([[5.0, 5.0]],), "every mass is 5"),
        (([],), "chunks have no mass: there are 0"),
        (([[1.0, 2.0], [3.0, np.nan]],), r"mass\[1\] = nan, number 3 of all masses"),
        (([[1.0, 2.0]], 0), "bins = 0"),
        (([[1.0, 2.0]], 2, (3, 1)), r"mass_range = \(3, 1\)"),
        (([[1.0, 2.0]], 2, (3, 4)), "no mass inside mass_range"),
    ]:
        given = dict(zip(("chunks", "bins", "mass_range"), bad, strict=False))
        with pytest.raises(ValueError, match=message):
            Accumulator.edges_of(given.pop("chunks"), **given)


MEMORY = """
import resource, sys
import numpy as np
import libmode

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024

rng = np.random.default_rng(0)
options = {"order": 1, "edges": np.linspace(0, 1, 33)}
libmode.Accumulator(scores=8, **options)
score, mass, weight = rng.random(10**6), rng.random(10**6), rng.normal(1, 1, 10**6)
before = peak()
accumulator = libmode.Accumulator(scores=2**17, **options)
for _ in range(3):
    accumulator.add(score, mass, weight=weight)
accumulator.evaluate()
print(accumulator.nbytes, peak() - before)
"""


def test_memory_is_that_of_the_sums():
    done = subprocess.run([sys.executable, "-c", MEMORY], capture_output=True, text=True, check=True)
    sums, grown = map(int, done.stdout.split())
    assert sums == pytest.approx(3 * 34 * 2**17 * 8, rel=1e-3)
    assert grown < sums + 50e6
