"""What the plots draw is what they were given."""

from types import SimpleNamespace

import matplotlib
import numpy as np
import pytest
from libmode import plots
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure

EDGES = np.array([50.0, 60.0, 80.0, 120.0, 200.0])
VALUE = np.array([0.5, 0.25, np.nan, 0.125])
ERROR = np.array([0.05, 0.025, np.nan, 0.0125])


@pytest.fixture
def axes():
    return Figure().subplots()


def labels(axes):
    return axes.get_xlabel(), axes.get_ylabel()


def legend(axes):
    return axes.get_legend_handles_labels()[1]


def vertices(collection):
    """Of each polygon of a fill_between."""
    return [path.vertices for path in collection.get_paths()]


def mass_and_selection(n=1000):
    rng = np.random.default_rng(0)
    mass = rng.uniform(50, 200, n)
    return mass, mass + rng.normal(0, 50, n) > 100, rng.normal(1, 0.5, n)


# Every function that draws series, with the least that it takes: its figure, and what is common to all.
# Those that draw maps are in test_plots_of_maps.py.
CALLS = {
    "efficiency": lambda axes, **more: plots.efficiency(axes, (EDGES, VALUE, ERROR), **more),
    "spectrum": lambda axes, **more: plots.spectrum(axes, *mass_and_selection()[:2], EDGES, **more),
    "roc": lambda axes, **more: plots.roc(axes, ([0, 0.5, 1], [0, 0.1, 1]), **more),
    "spurious_scan": lambda axes, **more: plots.spurious_scan(axes, ([60, 70], [1, -2], [2, 3]), **more),
    "frontier": lambda axes, **more: plots.frontier(axes, [3.0, 1.1], [0.9, 0.88], **more),
}
each = pytest.mark.parametrize("call", [pytest.param(call, id=name) for name, call in CALLS.items()])


@each
def test_what_is_common_to_all(call, tmp_path):
    before = dict(matplotlib.rcParams)
    with plots.style():
        assert matplotlib.rcParams != before
        axes = Figure(layout="constrained").subplots()
        axes.set_xlabel("m [GeV]")
        assert call(axes, label="drawn", color="#D55E00", lw=5, ls=":", alpha=0.5) is axes
        assert labels(axes)[0] == "m [GeV]" and labels(axes)[1]  # set only where there is none
        assert legend(axes)[0].startswith("drawn")
        drawn = axes.get_legend_handles_labels()[0][0]
        artist = drawn[0] if isinstance(drawn, tuple) else drawn  # an errorbar is a tuple of line, caps and bars
        color = artist.get_color() if hasattr(artist, "get_color") else artist.get_edgecolor()
        assert to_rgb(color) == to_rgb("#D55E00")
        assert (artist.get_linewidth(), artist.get_alpha()) == (5, 0.5)
        assert artist.get_linestyle() in (":", "dotted")
        axes.legend()
        axes.figure.savefig(tmp_path / "figure.pdf")
        assert (tmp_path / "figure.pdf").stat().st_size > 3000
    assert dict(matplotlib.rcParams) == before


@pytest.mark.parametrize(
    "given", [(EDGES, VALUE, ERROR), SimpleNamespace(edges=EDGES, value=VALUE, error=ERROR)], ids=["tuple", "result"]
)
def test_efficiency(axes, given):
    plots.efficiency(axes, given)
    (steps,) = axes.patches
    np.testing.assert_array_equal(steps.get_data().values, VALUE)
    np.testing.assert_array_equal(steps.get_data().edges, EDGES)
    assert labels(axes) == ("mass", "efficiency")

    # The band has a polygon on each side of the bin that is not known, and ends at its edges.
    (band,) = axes.collections
    left, right = vertices(band)
    assert (left[:, 0].min(), left[:, 0].max()) == (50, 80)
    assert (right[:, 0].min(), right[:, 0].max()) == (120, 200)
    assert {(50, 0.55), (60, 0.55), (60, 0.275), (80, 0.275), (80, 0.225), (50, 0.45)} <= set(map(tuple, left))
    assert {(120, 0.1375), (200, 0.1375), (120, 0.1125), (200, 0.1125)} <= set(map(tuple, right))
    assert to_rgb(band.get_facecolor()[0][:3]) == to_rgb(steps.get_edgecolor())


def test_spectrum_before_and_after_with_ratio():
    figure = Figure()
    upper, lower = figure.subplots(2)
    mass, selected, weight = mass_and_selection()
    plots.spectrum(upper, mass, None, EDGES, weight=weight, ratio=lower, label="all")
    plots.spectrum(upper, mass, selected, EDGES, weight=weight, ratio=lower, label="selected")
    before, after = upper.patches
    assert before.get_fill() and not after.get_fill()
    want = [
        np.histogram(mass[chosen], EDGES, weights=weight[chosen], density=True)[0]
        for chosen in (slice(None), selected)
    ]  # fmt: skip
    for drawn, density in zip((before, after), want, strict=True):
        np.testing.assert_allclose(drawn.get_data().values, density, rtol=1e-12)
        assert drawn.get_data().values @ np.diff(EDGES) == pytest.approx(1)
    one, ratio = lower.patches
    np.testing.assert_array_equal(one.get_data().values, [1, 1, 1, 1])
    np.testing.assert_allclose(ratio.get_data().values, want[1] / want[0], rtol=1e-12)
    assert one.get_edgecolor() == before.get_facecolor()
    assert ratio.get_edgecolor() == after.get_edgecolor()
    assert labels(upper) == ("", "normalized to unit area")
    assert labels(lower) == ("mass", "after / before")
    assert legend(upper) == ["all", "selected"]


def test_spectrum_of_a_histogram(axes):
    mass, selected, weight = mass_and_selection()
    bins = [EDGES, [-0.5, 0.5, 1.5]]
    values, variances = (np.histogram2d(mass, selected, bins, weights=weight**k)[0] for k in (1, 2))
    ratio = Figure().subplots()
    for given in ({}, {"cut": 0.5}):
        plots.spectrum(axes, (values, variances, *bins), ratio=ratio, **given)
    other, of_ratio = Figure().subplots(2)
    for chosen in (None, selected):
        plots.spectrum(other, mass, chosen, EDGES, weight=weight, ratio=of_ratio)
    for drawn, want in ((axes, other), (ratio, of_ratio)):
        for ours, theirs in zip(drawn.patches, want.patches, strict=True):
            np.testing.assert_allclose(ours.get_data().values, theirs.get_data().values, rtol=1e-12)
    with pytest.raises(TypeError, match="selected belongs to events"):
        plots.spectrum(axes, (values, variances, *bins), selected)


def test_roc(axes):
    curve = SimpleNamespace(
        signal_efficiency=[0, 0.1, 0.5, 1], false_positive_rate=[0, 0, 0.1, 1], threshold=[np.inf, 0.9, 0.5, 0]
    )
    plots.roc(axes, curve)
    (line,) = axes.lines
    np.testing.assert_array_equal(line.get_xdata(), [0, 0.1, 0.5, 1])
    np.testing.assert_array_equal(line.get_ydata(), [np.nan, np.nan, 10, 1])
    assert axes.get_yscale() == "log"
    assert labels(axes) == ("signal efficiency", "background rejection")


def test_frontier(axes):
    plots.frontier(axes, [1.2, 5.0], [0.88, 0.91], quality_error=[0.01, 0.02], scan=[10, 1], label="fixed")
    plots.frontier(axes, 1.1, 0.89, marker="*", label="default")
    fixed, flat, default = axes.lines
    np.testing.assert_array_equal(fixed.get_xydata(), [[5, 0.91], [1.2, 0.88]])
    assert list(flat.get_xdata()) == [1, 1] and default.get_marker() == "*"
    assert [(text.get_text(), *text.xy) for text in axes.texts] == [("1", 5, 0.91), ("10", 1.2, 0.88)]
    assert legend(axes) == ["fixed", "default"]
    assert labels(axes) == ("residual over expected", "AUC or background rejection")
    assert (fixed.get_linestyle(), default.get_linestyle()) == ("-", "None")


def test_spurious_scan(axes):
    """NaN is a gap of the line and of its band."""
    mass = np.arange(60.0, 200, 10)
    signal, error = np.where(mass == 80, np.nan, mass / 10), np.linspace(1, 2, 14)
    plots.spurious_scan(axes, SimpleNamespace(signal_mass=mass, signal=signal, error=error))
    (line,) = axes.lines
    np.testing.assert_array_equal(line.get_xydata().T, [mass, signal])
    left, right = vertices(axes.collections[0])
    assert {(60, 6 - error[0]), (60, 6 + error[0]), (70, 7 + error[1])} < set(map(tuple, left))
    assert {(90, 9 - error[3]), (190, 19 + error[13])} < set(map(tuple, right))
    assert labels(axes) == ("signal mass", "spurious signal")


def test_a_mass_between_gaps_of_a_spurious_scan_is_a_point(axes):
    ratio = Figure().subplots()
    mass, signal = np.arange(60.0, 200, 10), np.ones(14)
    signal[[3, 5, 12, 13]] = np.nan
    plots.spurious_scan(axes, (mass, signal, np.full(14, 2.0)), ratio=ratio)
    for own, height in ((axes, 1), (ratio, 0.5)):
        line, point = own.lines[:2]
        assert np.isnan(line.get_ydata()[[3, 5, 12, 13]]).all() and line.get_marker() == "None"
        np.testing.assert_array_equal(point.get_xydata(), [[100, height]])
        assert point.get_marker() == "o" and point.get_color() == line.get_color()
        assert own.get_xlim()[0] < 60 and own.get_xlim()[1] > 190  # the gap at the end is seen


def test_few_masses_of_a_spurious_scan_are_points(axes):
    ratio = Figure().subplots()
    for sign, name in ((1, "a"), (-1, "b")):
        plots.spurious_scan(axes, ([90, 125, 170], [4 * sign, np.nan, 9], [2, 1, 3]), ratio=ratio, label=name, ms=3)
    assert legend(axes) == ["a", "b"]
    first, second = ratio.lines
    np.testing.assert_array_equal(first.get_xydata().T, [[90, 125, 170], [2, np.nan, 3]])
    assert second.get_ydata()[0] == -2
    assert first.get_marker() == "o" and first.get_linestyle() == "None" and first.get_markersize() == 3
    points = [line for line in axes.lines if line.get_marker() == "o"]
    assert [line.get_color() for line in points] == [line.get_color() for line in ratio.lines]
    assert len(ratio.patches) == 1  # one band, however many scans
    assert (labels(axes), labels(ratio)) == (("", "spurious signal"), ("signal mass", "signal / error"))


BAD = [
    (plots.efficiency, ((EDGES[1:], VALUE, ERROR),), {}, "efficiency.edges has length 4: expected 5, one more than efficiency.value"),
    (plots.efficiency, ((EDGES, VALUE, ERROR[1:]),), {}, "efficiency.error has length 3, but efficiency.value has length 4"),
    (plots.efficiency, ((EDGES, VALUE, -ERROR),), {}, "efficiency.error[0] = -0.05: expected numbers >= 0"),
    (plots.efficiency, ((EDGES[::-1], VALUE, ERROR),), {}, "efficiency.edges[1] = 120.0: expected more than 200.0 before it"),
    (plots.efficiency, ((EDGES, VALUE),), {}, "expected the attributes edges, value, error, or a tuple of these"),
    (plots.spectrum, ([1, np.nan], None, [0, 5]), {}, "mass[1] = nan: expected a finite number"),
    (plots.spectrum, ([1, 2], [True], [0, 5]), {}, "selected has length 1, but mass has length 2"),
    (plots.spectrum, ([1, 2], [1, 2], [0, 5]), {}, "selected[1] = 2: expected True or False, or 1 or 0"),
    (plots.spectrum, ([1, 2], None, [1, 1, 2]), {}, "bins[1] = 1 after 1: expected edges that increase"),
    (plots.spectrum, ([1, 2], [False, False], [0, 5]), {}, "selected: the events inside bins have total weight 0,"),
    (plots.spectrum, ([1, 2], None, [5, 6]), {}, "mass has no event inside bins, 5 to 6"),
    (plots.roc, (([0, 1], [0, 1, 1]),), {}, "roc.false_positive_rate has length 3, but roc.signal_efficiency has length 2"),
    (plots.frontier, ([1, 2], [1]), {}, "quality has length 1, but residual has length 2"),
    (plots.spectrum, (np.ones((4, 2)), None, [[0, 1, 2]] * 2), {}, "mass has 2 columns"),
    (plots.frontier, ([1, 0], [1, 2]), {}, "residual[1] = 0: expected numbers > 0"),
    (plots.spurious_scan, (([1, 2], [1], [1, 2]),), {}, "spurious.signal has length 1, but spurious.signal_mass has length 2"),
]  # fmt: skip


@pytest.mark.parametrize(("function", "given", "named", "said"), BAD, ids=[f"{b[0].__name__}-{b[3][:40]}" for b in BAD])
def test_errors_name_the_argument_and_nothing_is_drawn(axes, function, given, named, said):
    with pytest.raises((ValueError, TypeError)) as caught:
        function(axes, *given, **named)
    assert said in str(caught.value)
    assert not (axes.lines or axes.patches or axes.collections or any(labels(axes)))
    assert axes.get_xscale() == axes.get_yscale() == "linear"
