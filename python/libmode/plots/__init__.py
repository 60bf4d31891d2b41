"""Plots of a selection and of its effect on the mass spectrum, with matplotlib.

Each function draws one series into an Axes and returns the Axes: call it again for another series. Further keywords go
to the artist (``color=``, ``lw=``...). A function sets axis labels only where there are none yet, and leaves legends to
you. It does not draw values that are not finite. Nothing global changes: :func:`style` is a context.
Results of ``libmode.metrics`` are taken as they are, or as tuples of arrays.
"""

from .._messages import needed

with needed("matplotlib", by="libmode.plots", extra="plot"):
    from ._style import style
    from .mass import efficiency, spectrum
    from .rejection import roc

__all__ = ["efficiency", "roc", "spectrum", "style"]
