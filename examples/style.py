"""The style of the figures."""

import matplotlib

matplotlib.use("Agg")  # before pyplot: figures are also made where there is no screen

import mplhep

STYLE = [
    mplhep.style.ROOT,
    {
        "font.size": 20,
        "axes.unicode_minus": True,
        "xaxis.labellocation": "center",
        "yaxis.labellocation": "center",
        "figure.constrained_layout.w_pad": 0.12,
    },
]
