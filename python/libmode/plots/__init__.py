"""Plots of a selection and of what it does to the mass spectrum, with matplotlib.

=================================  =======================================================
:func:`efficiency`                 efficiency against mass, with a statistical band
:func:`efficiency_map`             efficiency against two masses, as colours
:func:`residual_map`               how far it is from a polynomial in them, over the error
:func:`spectrum`                   mass spectra before and after a selection
:func:`roc`                        background rejection against signal efficiency
:func:`rejection_against_jsd`      how much is rejected, how little the spectrum changes
:func:`closure`                    predicted over seen background of the ABCD method
:func:`spurious_scan`              fitted signal where there is none, against its mass
:func:`frontier`                   AUC or rejection against the residual: what flatness costs
=================================  =======================================================

Each function draws one series or map into an Axes and returns the Axes, so that several series
are overlaid by several calls. Further keywords go to the artist (``color=``, ``lw=``...).
Axis labels are set only where there are none yet; legends are left to the caller. Values
that are not finite are not drawn. Nothing global is changed: :func:`style` is a context.
Results of ``libmode.metrics`` are taken as they are, or as tuples of arrays.
"""

from .._missing import needed

with needed("matplotlib", by="libmode.plots", extra="plot"):
    from ._style import OKABE_ITO, style
    from .closure import closure
    from .maps import efficiency_map, residual_map
    from .mass import efficiency, spectrum, spurious_scan
    from .rejection import frontier, rejection_against_jsd, roc

__all__ = [
    "OKABE_ITO",
    "closure",
    "efficiency",
    "efficiency_map",
    "frontier",
    "rejection_against_jsd",
    "residual_map",
    "roc",
    "spectrum",
    "spurious_scan",
    "style",
]
