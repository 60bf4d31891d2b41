"""The shapes that a fit can give the background: what each bin expects, and its derivatives."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ._arguments import Doubles, number, numbers, whole

# Nodes in each bin for the integral of an exponential: exact up to a polynomial of degree 9 in the bin.
NODES = 5
STEEPEST = 100.0  # the exponent stays between +- this, so that a trial step cannot overflow


class Expected(NamedTuple):
    """What each of b bins expects of p parameters."""

    value: Doubles  #: (b,)
    slope: Doubles  #: (b, p), the first derivatives
    curvature: Doubles | None  #: (b, p, p), the second derivatives; None where the expectation is linear


@dataclass(frozen=True, eq=False)
class Shape:
    """A background with degree + 1 parameters.

    With the exponent f(m) = sum_l c_l basis_l(m), a bin expects the integral of f over it, or of exp(f).
    """

    basis: Doubles  #: (nodes, b, p)
    width: Doubles  #: (nodes, b), the weights of the integral
    exponential: bool

    def __call__(self, parameters: Doubles) -> Expected:
        if not self.exponential:
            slope = np.einsum("qb,qbp->bp", self.width, self.basis)
            return Expected(slope @ parameters, slope, None)
        density = self.width * np.exp(np.clip(self.basis @ parameters, -STEEPEST, STEEPEST))
        weighted = (density[..., None] * self.basis).transpose(1, 2, 0)
        return Expected(density.sum(axis=0), weighted.sum(axis=2), weighted @ self.basis.transpose(1, 0, 2))

    def start(self, count: Doubles, used: NDArray[np.bool_]) -> Doubles:
        """Parameters near those that describe the counts, (b,), of the bins that are used, by least squares."""
        size = np.sqrt(np.maximum(count, 1.0))
        design, target = np.einsum("qb,qbp->bp", self.width, self.basis), count
        if self.exponential:
            width = self.width.sum(axis=0)
            # An empty bin counts as half an event; the error of a logarithm is relative.
            design, target, size = design / width[:, None], np.log(np.maximum(count, 0.5) / width), 1 / size
        found: Doubles = np.linalg.lstsq((design / size[:, None])[used], (target / size)[used], rcond=None)[0]
        return found


class Family(NamedTuple):
    """A kind of background."""

    name: str  #: as errors call it
    exponential: bool
    degree: int  #: by default
    least: int
    most: int  #: that the F-test tries
    columns: Callable[
        [Doubles, Doubles, int, float], Doubles
    ]  #: of masses, edges, degree and energy: (..., degree + 1)
    template: Doubles | None = None  #: (b,), multiplies the mean over each bin; None: the width of the bin


def _legendre(mass: Doubles, edges: Doubles, degree: int, _: float) -> Doubles:
    x = (2 * mass - edges[0] - edges[-1]) / (edges[-1] - edges[0])
    return np.polynomial.legendre.legvander(x, degree)


def _powers(mass: Doubles, edges: Doubles, degree: int, _: float) -> Doubles:
    """Of log m, scaled to [-1, 1], which span the same as powers of log m."""
    return _legendre(np.log(mass), np.log(edges), degree, 0)


def _dijet(mass: Doubles, edges: Doubles, degree: int, energy: float) -> Doubles:
    columns = [np.ones_like(mass), np.log1p(-mass / energy)]
    powers = _powers(mass, edges, degree - 1, 0)[..., 1:]
    return np.concatenate([np.stack(columns, axis=-1), powers], axis=-1)


FAMILIES = {
    kind.name: kind
    for kind in (
        Family("polynomial", False, 2, 0, 12, _legendre),
        Family("exponential", True, 1, 0, 8, _legendre),
        Family("power", True, 1, 0, 8, _powers),
        Family("dijet", True, 2, 2, 4, _dijet),
    )
}


def family(background: Any) -> Family:
    """That of a name, or of a template; an error for another name."""
    if np.ndim(background):
        template = numbers("background", background)
        if template.min() <= 0:
            place = int(np.argmin(template))
            raise ValueError(f"background[{place}] = {template[place]:g}: expected a template above 0 in each bin")
        return Family("template", False, 1, 0, 8, _legendre, template)
    if not isinstance(background, str) or background not in FAMILIES:
        known = ", ".join(map(repr, FAMILIES))
        raise ValueError(f"background = {background!r}: expected one of {known}, or a template, (bins,) numbers")
    return FAMILIES[background]


def degree_of(kind: Family, degree: Any) -> int:
    """The degree that a user gave, or the default; an error for one that this background does not have."""
    if degree is None:
        return kind.degree
    if isinstance(degree, str):
        raise TypeError(f"degree = {degree!r}: expected an integer or 'f-test'")
    found = whole("degree", degree, kind.least)
    if kind.name == "dijet" and found > kind.most:
        raise ValueError(f"degree = {found}: expected 2, 3 or 4 of background = 'dijet', which has 3 to 5 parameters")
    return found


def shape(kind: Family, degree: int, edges: Doubles, energy: Any) -> Shape:
    """The shape of this kind in bins with these edges; an error where the function is not defined."""
    energy = number("energy", energy, 0)
    if kind.template is not None and len(kind.template) != len(edges) - 1:
        raise ValueError(f"background has length {len(kind.template)}, but there are {len(edges) - 1} bins")
    if kind.name in ("power", "dijet") and edges[0] <= 0:
        raise ValueError(f"bins[0] = {edges[0]:g}: expected more than 0, since background = {kind.name!r}")
    if kind.name == "dijet" and edges[-1] >= energy:
        raise ValueError(
            f"energy = {energy:g} with bins up to {edges[-1]:g}: expected the collision energy in the units of mass"
        )
    # A polynomial is integrated exactly: n nodes do so up to degree 2 n - 1.
    at, part = np.polynomial.legendre.leggauss(NODES if kind.exponential else degree // 2 + 1)
    half = np.diff(edges) / 2
    mass = (edges[1:] + edges[:-1]) / 2 + at[:, None] * half
    columns = kind.columns(mass, edges, degree, energy)
    # The parameters of an orthonormal basis can be told apart, however alike the functions are.
    orthonormal = np.linalg.qr(columns.reshape(-1, columns.shape[-1]))[0].reshape(columns.shape)
    width = part[:, None] * (half if kind.template is None else kind.template / 2)
    return Shape(orthonormal * np.sqrt(orthonormal[..., 0].size), width, kind.exponential)
