"""Colors, and a style for whole figures."""

from __future__ import annotations

from contextlib import AbstractContextManager

import matplotlib.style
from cycler import cycler

#: Colors that differ with any color vision (M. Okabe and K. Ito, 2008). The cycle of
#: :func:`style` is in this order; it leaves out yellow, which is hard to see on white.
OKABE_ITO = {
    "blue": "#0072B2",
    "vermillion": "#D55E00",
    "bluish green": "#009E73",
    "orange": "#E69F00",
    "sky blue": "#56B4E9",
    "reddish purple": "#CC79A7",
    "black": "#000000",
    "yellow": "#F0E442",
}


def style() -> AbstractContextManager[None]:
    """The style of these plots: mplhep's style of ROOT, centered labels, and colors of Okabe and Ito.

    Use ``with style():`` around making *and saving* a figure, since matplotlib looks up fonts only then.

    Returns
    -------
    context manager
        It restores the style of before.

    Raises
    ------
    ImportError
        Where mplhep is not installed.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from libmode.plots import style
    >>> with style():
    ...     (line,) = Figure().subplots().plot([0, 1])
    >>> line.get_color()
    '#0072B2'
    """
    import mplhep

    settings = {
        "font.size": 20,
        "axes.prop_cycle": cycler(color=[color for name, color in OKABE_ITO.items() if name != "yellow"]),
        "axes.unicode_minus": True,
        "xaxis.labellocation": "center",
        "yaxis.labellocation": "center",
        "lines.linewidth": 2,
        "lines.markersize": 8,
        "patch.linewidth": 2,
        "figure.constrained_layout.w_pad": 0.12,
    }
    return matplotlib.style.context([mplhep.style.ROOT, settings])
