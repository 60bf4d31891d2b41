"""Colours, and a style for whole figures."""

from __future__ import annotations

from contextlib import AbstractContextManager

import matplotlib.style
from cycler import cycler

#: Colours that are told apart with any colour vision (M. Okabe and K. Ito, 2008). The cycle of
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
    """The style of these plots: that of ROOT from mplhep, :data:`OKABE_ITO`, centred labels.

    Used as ``with style():`` around making *and saving* a figure, since fonts are looked
    up only then. Afterwards matplotlib's settings are what they were. Needs mplhep.

    Returns
    -------
    context manager
        Of matplotlib's settings.

    Raises
    ------
    ImportError
        Where mplhep is not installed.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from libmode.plots import OKABE_ITO, style
    >>> with style():
    ...     (line,) = Figure().subplots().plot([0, 1])
    >>> line.get_color() == OKABE_ITO["blue"]
    True
    """
    import mplhep

    settings = {
        "font.size": 20,
        "axes.prop_cycle": cycler(color=[colour for name, colour in OKABE_ITO.items() if name != "yellow"]),
        "axes.unicode_minus": True,
        "xaxis.labellocation": "center",
        "yaxis.labellocation": "center",
        "lines.linewidth": 2,
        "lines.markersize": 8,
        "patch.linewidth": 2,
        "figure.constrained_layout.w_pad": 0.12,
    }
    return matplotlib.style.context([mplhep.style.ROOT, settings])
