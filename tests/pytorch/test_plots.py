"""The ROC curve that is drawn is the one that was given."""

import numpy as np
from libmode import metrics, plots
from matplotlib.figure import Figure


def test_the_curve_that_is_drawn():
    axes = Figure().subplots()
    axes.set_xlabel("kept")
    assert plots.roc(axes, ([0, 0.5, 1], [0, 0.1, 1]), label="drawn", color="red", lw=5) is axes
    np.testing.assert_array_equal(axes.lines[0].get_xydata(), [[0, np.nan], [0.5, 10], [1, 1]])
    assert axes.lines[0].get_linewidth() == 5 and axes.get_legend_handles_labels()[1] == ["drawn"]
    assert (axes.get_xlabel(), axes.get_ylabel(), axes.get_yscale()) == ("kept", "background rejection", "log")
    curve = metrics.roc([0.1, 0.4, 0.35, 0.8], [0, 0, 1, 1])
    assert len(plots.roc(axes, curve).lines[1].get_xdata()) == len(curve.threshold)
