"""What the plots of maps draw is what they were given."""

import matplotlib
import numpy as np
import pytest
from libmode import metrics, plots
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure

EDGES = (np.array([0.0, 1, 3]), np.array([10.0, 20, 25, 40]))
VALUE = np.array([[0.1, 0.2, 0.3], [0.4, np.nan, 0.6]])
RESIDUAL = np.array([[0.1, -0.2, 0.3], [0.0, np.nan, 0.1]])
EXPECTED = np.array([[0.1, 0.05, 0.05], [0.1, np.nan, 0.0]])
CALLS = {
    "efficiency_map": lambda axes, **more: plots.efficiency_map(axes, (EDGES, VALUE), **more),
    "residual_map": lambda axes, **more: plots.residual_map(axes, (EDGES, RESIDUAL, EXPECTED), **more),
}
each = pytest.mark.parametrize("call", [pytest.param(call, id=name) for name, call in CALLS.items()])


@pytest.fixture
def axes():
    return Figure().subplots()


def bar_of(axes):
    """The Axes of the colour bar."""
    (bar,) = (other for other in axes.figure.axes if other is not axes)
    return bar


@each
def test_axes_have_the_names_unless_they_have_others(axes, call):
    assert call(axes) is axes
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("mass 1", "mass 2")
    other = Figure().subplots()
    other.set_ylabel("mine")
    call(other, names=("$m_{12}$ [GeV]", "$m_{23}$ [GeV]"))
    assert (other.get_xlabel(), other.get_ylabel()) == ("$m_{12}$ [GeV]", "mine")


@each
def test_the_colour_bar_has_the_label_or_is_none(axes, call):
    call(axes, label="of signal")
    assert bar_of(axes).get_ylabel() == "of signal"
    other = Figure().subplots()
    call(other, label=None)
    assert other.figure.axes == [other]


def test_efficiencies_are_where_they_belong(axes):
    plots.efficiency_map(axes, (EDGES, VALUE), vmin=0, vmax=1, cmap="gray")
    (mesh,) = axes.collections
    shown = mesh.get_array()
    assert shown.shape == (3, 2)  # the second mass goes up
    np.testing.assert_array_equal(shown.filled(np.nan), VALUE.T)
    np.testing.assert_array_equal(mesh.get_coordinates()[0, :, 0], EDGES[0])
    np.testing.assert_array_equal(mesh.get_coordinates()[:, 0, 1], EDGES[1])
    assert (axes.get_xlim(), axes.get_ylim()) == ((0, 3), (10, 40))
    assert (mesh.norm.vmin, mesh.norm.vmax, mesh.cmap.name) == (0, 1, "gray")


@each
def test_what_is_not_known_shows_the_hatched_ground(axes, call):
    call(axes)
    (ground,) = axes.patches
    assert ground.get_hatch() and ground.get_bbox().bounds == (0, 10, 3, 30)
    (mesh,) = axes.collections
    hidden = mesh.to_rgba(mesh.get_array())[:, :, 3] == 0
    np.testing.assert_array_equal(np.flatnonzero(hidden), [3] if call is CALLS["efficiency_map"] else [3, 5])


def test_pulls_have_colours_that_are_symmetric_around_white(axes):
    plots.residual_map(axes, (EDGES, RESIDUAL, EXPECTED))
    (mesh,) = axes.collections
    np.testing.assert_allclose(mesh.get_array().filled(np.nan), [[1, 0], [-4, np.nan], [6, np.nan]])
    assert (mesh.norm.vmin, mesh.norm.vmax) == pytest.approx((-6, 6))
    assert min(mesh.to_rgba(0.0)) > 0.95
    blue, red = mesh.to_rgba(-6.0), mesh.to_rgba(6.0)
    assert blue[2] > blue[0] and red[0] > red[2]
    assert mesh.colorbar.extend == "neither"


def test_pulls_beyond_the_limit_have_its_colour(axes):
    plots.residual_map(axes, (EDGES, RESIDUAL, EXPECTED), limit=2)
    (mesh,) = axes.collections
    assert (mesh.norm.vmin, mesh.norm.vmax, mesh.colorbar.extend) == (-2, 2, "both")
    assert mesh.to_rgba(6.0) == mesh.to_rgba(2.0)


def test_small_pulls_are_not_blown_up(axes):
    plots.residual_map(axes, (EDGES, RESIDUAL / 10, EXPECTED))
    assert axes.collections[0].norm.vmax == 3


def test_results_of_the_metrics_are_taken_as_they_are():
    rng = np.random.default_rng(0)
    score, mass = rng.random(3000), rng.random((3000, 2))
    left, right = Figure().subplots(1, 2)
    efficiency, residual = (f(score, mass, 0.5, bins=4) for f in (metrics.efficiency_map, metrics.residual_map))
    plots.efficiency_map(left, efficiency)
    plots.residual_map(right, residual)
    np.testing.assert_array_equal(left.collections[0].get_array(), efficiency.efficiency.T)
    np.testing.assert_array_equal(right.collections[0].get_array(), residual.pull.T)


@each
def test_a_figure_is_saved_without_a_warning_and_no_setting_is_changed(call, tmp_path):
    before = dict(matplotlib.rcParams)
    with plots.style():
        axes = Figure(layout="constrained").subplots()
        call(axes)
        for name in ("figure.png", "figure.pdf"):
            axes.figure.savefig(tmp_path / name)
            assert (tmp_path / name).stat().st_size > 3000
    assert dict(matplotlib.rcParams) == before


def test_style_reaches_the_cells(axes):
    plots.efficiency_map(axes, (EDGES, VALUE), edgecolors="black", alpha=0.5)
    (mesh,) = axes.collections
    assert mesh.get_alpha() == 0.5 and tuple(mesh.get_edgecolor()[0][:3]) == to_rgba("black")[:3]


BAD = [
    (plots.efficiency_map, ((EDGES,),), {}, "efficiency is "),
    (plots.efficiency_map, ((EDGES[:1], VALUE),), {}, "efficiency.edges has length 1: expected 2, the edges of each mass"),
    (plots.efficiency_map, ((EDGES[::-1], VALUE),), {}, "efficiency.efficiency has shape (2, 3): expected (3, 2), one less than the edges"),
    (plots.efficiency_map, (([[0, 2, 1], EDGES[1]], VALUE),), {}, "efficiency.edges[0][2] = 1.0: expected more than 2.0 before it"),
    (plots.residual_map, ((EDGES, RESIDUAL, -EXPECTED),), {}, "residual.expected[0] = -0.1: expected numbers >= 0"),
    (plots.residual_map, ((EDGES, RESIDUAL, EXPECTED),), {"limit": 0}, "limit = 0: expected a number > 0"),
]  # fmt: skip


@pytest.mark.parametrize(("function", "given", "named", "said"), BAD, ids=[b[3] for b in BAD])
def test_errors_name_the_argument_and_nothing_is_drawn(axes, function, given, named, said):
    with pytest.raises((ValueError, TypeError)) as caught:
        function(axes, *given, **named)
    assert said in str(caught.value)
    assert not (axes.patches or axes.collections or axes.get_xlabel())
