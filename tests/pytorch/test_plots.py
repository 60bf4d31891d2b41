"""What the plots draw is what they were given."""

from types import SimpleNamespace

import matplotlib
import numpy as np
import pandas as pd
import pytest
from libmode import metrics, plots
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
    return [set(map(tuple, path.vertices)) for path in collection.get_paths()]


def mass_and_selection(n=1000):
    rng = np.random.default_rng(0)
    mass = rng.uniform(50, 200, n)
    return mass, mass + rng.normal(0, 50, n) > 100, rng.normal(1, 0.5, n)


def spectra():
    """What metrics.efficiency returns, and the spectra of all and of selected events by NumPy."""
    mass, selected, weight = mass_and_selection()
    found = metrics.efficiency(mass=mass, selected=selected, weight=weight, bins=EDGES)
    return found, *(
        np.histogram(mass[part], EDGES, weights=weight[part], density=True)[0] for part in (slice(None), selected)
    )


# Every function, with the least that it takes: its figure, and what is common to all.
CALLS = {
    "efficiency": lambda axes, **more: plots.efficiency(axes, (EDGES, VALUE, ERROR), **more),
    "spectrum": lambda axes, **more: plots.spectrum(axes, spectra()[0], **more),
    "roc": lambda axes, **more: plots.roc(axes, ([0, 0.5, 1], [0, 0.1, 1]), **more),
    "spurious_scan": lambda axes, **more: plots.spurious_scan(axes, ([60, 70], [1, -2], [2, 3]), **more),
    "frontier": lambda axes, **more: plots.frontier(axes, [3.0, 1.1], [0.9, 0.88], **more),
}


@pytest.mark.parametrize("name", CALLS)
def test_labels_and_styles_are_those_of_the_caller(name, tmp_path):
    before = dict(matplotlib.rcParams)
    with plots.style():
        assert matplotlib.rcParams != before
        axes = Figure(layout="constrained").subplots()
        axes.set_xlabel("m [GeV]")
        assert CALLS[name](axes, label="drawn", color="#D55E00", lw=5) is axes
        assert labels(axes)[0] == "m [GeV]" and labels(axes)[1]  # set only where there is none
        drawn = axes.get_legend_handles_labels()[0][0]
        artist = drawn[0] if isinstance(drawn, tuple) else drawn  # an errorbar is a tuple of line, caps and bars
        assert artist.get_linewidth() == 5 and legend(axes)[0].startswith("drawn")
        axes.figure.savefig(tmp_path / "figure.pdf")
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
    left, right = vertices(axes.collections[0])
    assert {(50, 0.55), (60, 0.55), (60, 0.275), (80, 0.275), (80, 0.225), (50, 0.45)} <= left
    assert {(120, 0.1375), (200, 0.1375), (120, 0.1125), (200, 0.1125)} <= right
    assert max(left)[0] == 80 and min(right)[0] == 120


def test_spectrum_before_and_after_with_ratio():
    upper, lower = Figure().subplots(2)
    found, every, chosen = spectra()
    plots.spectrum(upper, found, before=True, ratio=lower, label="all")
    plots.spectrum(upper, (EDGES, found.background, found.selected), ratio=lower, label="selected")
    before, after = upper.patches
    assert before.get_fill() and not after.get_fill()
    one, ratio = lower.patches
    for drawn, want in ((before, every), (after, chosen), (one, np.ones(4)), (ratio, chosen / every)):
        np.testing.assert_allclose(drawn.get_data().values, want, rtol=1e-12)
    assert ratio.get_edgecolor() == after.get_edgecolor()
    assert labels(upper) == ("", "normalized to unit area")
    assert labels(lower) == ("mass", "after / before")
    assert legend(upper) == ["all", "selected"]


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


def test_a_spurious_scan_has_a_point_for_each_mass(axes):
    ratio = Figure().subplots()
    for sign, name in ((1, "a"), (-1, "b")):
        plots.spurious_scan(axes, ([90, 125, 170], [4 * sign, np.nan, 9], [2, 1, 3]), ratio=ratio, label=name)
    assert legend(axes) == ["a", "b"]
    first, second = ratio.lines
    np.testing.assert_array_equal(first.get_xydata().T, [[90, 125, 170], [2, np.nan, 3]])
    assert second.get_ydata()[0] == -2
    assert first.get_marker() == "o" and first.get_linestyle() == "None"
    plots.spurious_scan(axes, ([90, 400], [4, np.nan], [2, np.nan]), ratio=ratio)
    assert axes.get_xlim()[1] > 400  # a mass without a fit at the end is seen to be missing
    assert len(ratio.patches) == 1  # one band, however many scans
    assert (labels(axes), labels(ratio)) == (("", "spurious signal"), ("signal mass", "signal / error"))


BAD = [
    (plots.efficiency, ((EDGES[1:], VALUE, ERROR),), "efficiency.edges has length 4: expected 5, one more than efficiency.value"),
    (plots.efficiency, ((EDGES, VALUE, ERROR[1:]),), "efficiency.error has length 3, but efficiency.value has length 4"),
    (plots.efficiency, ((EDGES, VALUE, -ERROR),), "efficiency.error[0] = -0.05: expected numbers >= 0"),
    (plots.efficiency, ((EDGES[::-1], VALUE, ERROR),), "efficiency.edges[1] = 120.0: expected more than 200.0 before it"),
    (plots.efficiency, ((EDGES, VALUE),), "expected the attributes edges, value, error, or a tuple of these"),
    (plots.spectrum, (([0, 5], [2], [0]),), "efficiency.selected has total weight 0, which gives no unit area"),
    (plots.spectrum, (([0, 5], [2], [1, 1]),), "efficiency.selected has length 2, but efficiency.background has length 1"),
    (plots.spectrum, (([0, 5, 6], [2], [1]),), "efficiency.edges has length 3: expected 2, one more than efficiency.background"),
    (plots.roc, (([0, 1], [0, 1, 1]),), "roc.false_positive_rate has length 3, but roc.signal_efficiency has length 2"),
    (plots.frontier, ([1, 2], [1]), "quality has length 1, but residual has length 2"),
    (plots.frontier, ([1, 0], [1, 2]), "residual[1] = 0: expected numbers > 0"),
]  # fmt: skip


@pytest.mark.parametrize(("function", "given", "said"), BAD, ids=[f"{row[0].__name__}-{row[2][:40]}" for row in BAD])
def test_errors_name_the_argument_and_nothing_is_drawn(axes, function, given, said):
    with pytest.raises((ValueError, TypeError)) as caught:
        function(axes, *given)
    assert said in str(caught.value)
    assert not (axes.lines or axes.patches or axes.collections or any(labels(axes)))


@pytest.mark.parametrize(
    "function, given, said",
    [
        (plots.roc, {"roc": ("first", "mixed")}, "roc.false_positive_rate and roc.signal_efficiency"),
        (plots.efficiency, {"efficiency": (EDGES, "first", "mixed")}, "efficiency.error and efficiency.value"),
        (plots.spurious_scan, {"spurious": ("first", "first", "mixed")}, "spurious.error and spurious.signal_mass"),
        (plots.frontier, {"residual": "first", "quality": "mixed"}, "quality and residual"),
    ],
)
def test_series_of_another_index_are_an_error(axes, function, given, said):
    series = pd.Series([0.1, 0.2, 0.3, 0.4])
    of = {"first": series, "mixed": series[::-1]}

    def named(value):
        return of.get(value, value) if isinstance(value, str) else value

    given = {
        name: tuple(map(named, value)) if isinstance(value, tuple) else named(value) for name, value in given.items()
    }
    with pytest.raises(ValueError, match=f"{said} have different indexes"):
        function(axes, **given)
