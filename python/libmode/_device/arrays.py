"""The operations in which PyTorch and JAX differ; operators and methods that both have are used as they are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

#: A tensor or an array.
Array = Any


class Arrays(Protocol):
    """Operations on the device of the events, which are along the last axis. Reals are float64, places are integers."""

    def real(self, values: Array) -> Array:
        """The values in float64."""

    def constant(self, values: Sequence[float]) -> Array:
        """Numbers that are known on the host, (k,)."""

    def arange(self, n: int) -> Array:
        """0, 1, ..., n - 1 as integers."""

    def full(self, shape: tuple[int, ...], value: float) -> Array:
        """An array of reals that are all ``value``."""

    def sort(self, values: Array) -> tuple[Array, Array]:
        """The values (n,) in order, and where each stood; of equal ones the first comes first."""

    def order_of(self, numbers: Array) -> Array:
        """Where the integers (n,) stand in order; of equal ones the first comes first."""

    def take(self, table: Array, places: Array) -> Array:
        """``table[..., places]``."""

    def put(self, values: Array, places: Array) -> Array:
        """The array that has ``values`` at ``places``, which are all different."""

    def cumsum(self, values: Array) -> Array:
        """Sums along the last axis."""

    def cummax(self, values: Array) -> Array:
        """The largest so far, along the last axis."""

    def segment_sums(self, values: Array, segment: Array, count: int) -> Array:
        """The sums (k, count) of the rows of ``values``, (k, n), over the events of each segment."""

    def searchsorted(self, edges: Array, values: Array, right: bool) -> Array:
        """How many edges are below each value; with ``right``, how many are not above."""

    def where(self, condition: Array, chosen: Any, other: Any) -> Array:
        """``chosen`` where the condition holds, else ``other``."""

    def clip(self, values: Array, low: float, high: float) -> Array:
        """The values, none below ``low`` or above ``high``."""

    def stack(self, arrays: Sequence[Array]) -> Array:
        """Along a new first axis."""

    def concat(self, arrays: Sequence[Array]) -> Array:
        """Along the last axis."""

    def flip(self, values: Array) -> Array:
        """The values in reverse order along the last axis."""

    def exp(self, values: Array) -> Array:
        """e^x."""

    def tanh(self, values: Array) -> Array:
        """The hyperbolic tangent."""

    def sqrt(self, values: Array) -> Array:
        """The square root."""

    def sign(self, values: Array) -> Array:
        """-1, 0 or 1."""

    def isfinite(self, values: Array) -> Array:
        """Whether each value is neither infinite nor NaN."""

    def mantissa(self, value: Array) -> Array:
        """The number in [1/2, 1) that is the value divided by a power of 2."""
