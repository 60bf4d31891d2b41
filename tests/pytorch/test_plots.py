"""What the plots draw is what they were given."""

import matplotlib
import numpy as np
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


def spectra():
    """What metrics.efficiency returns."""
    rng = np.random.default_rng(0)
    mass = rng.uniform(50, 200, 1000)
    return metrics.efficiency(mass=mass, selected=mass + rng.normal(0, 50, 1000) > 100, bins=EDGES)


# Every function, with the least that it takes: its figure, and what is common to all.
CALLS = {
    "efficiency": lambda axes, **more: plots.efficiency(axes, (EDGES, VALUE, ERROR), **more),
    "spectrum": lambda axes, **more: plots.spectrum(axes, spectra(), **more),
    "roc": lambda axes, **more: plots.roc(axes, ([0, 0.5, 1], [0, 0.1, 1]), **more),
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


def test_what_is_drawn():
    axes = CALLS["roc"](Figure().subplots())
    np.testing.assert_array_equal(axes.lines[0].get_xydata(), [[0, np.nan], [0.5, 10], [1, 1]])
    axes = CALLS["efficiency"](Figure().subplots())
    np.testing.assert_array_equal(axes.patches[0].get_data().values, VALUE)
    found = spectra()
    axes = CALLS["spectrum"](Figure().subplots())
    np.testing.assert_allclose(
        axes.patches[-1].get_data().values, found.selected / np.diff(EDGES) / found.selected.sum()
    )


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
]  # fmt: skip


@pytest.mark.parametrize(("function", "given", "said"), BAD, ids=[f"{row[0].__name__}-{row[2][:40]}" for row in BAD])
def test_errors_name_the_argument_and_nothing_is_drawn(axes, function, given, said):
    with pytest.raises((ValueError, TypeError)) as caught:
        function(axes, *given)
    assert said in str(caught.value)
    assert not (axes.lines or axes.patches or axes.collections or any(labels(axes)))
