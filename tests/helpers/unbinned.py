"""The unbinned loss from its formulas, in extended precision: O(n) work for J at one score, and no running sums."""

from __future__ import annotations

import numpy as np
from basis import orthonormal
from reference import exact, legendre


class Unbinned:
    """J for these events, in polynomials that are orthonormal with respect to their own masses and weights.

    Negative weights are refused: with polynomials orthonormal in the weights'
    absolute values, sum_i w_i q_k(x_i) is not 0, and so neither is J of a flat response.
    """

    scale = 1  # with both reductions

    def __init__(self, x, weight, *, order: int, degree: int, unbiased: bool):
        assert degree > order and all(weight >= 0)
        self.order, self.unbiased = order, unbiased
        share = weight / weight.sum()
        self.q = orthonormal(legendre(degree, x), share)  # q_k(x_i), k = 0..degree
        self.steps = self.q * share  # what crossing event i adds to a_k
        if unbiased:
            self._prepare_bias(share)

    def _prepare_bias(self, share) -> None:
        """Q_i, and the factor g."""
        p = self.order
        self.Q = (self.steps[p + 1 :] ** 2).sum(axis=0)
        h = self.q[: p + 1].T @ self.steps[: p + 1]  # h_ij, with w_j
        spread = 1 - 2 * np.diag(h) + (h**2).sum(axis=1)
        self.g = self.Q.sum() / (self.Q @ spread)

    def integrand(self, crossed):
        """J where these events (a mask) have scores below."""
        theta, p = exact(crossed.astype(float)), self.order
        a = self.steps @ theta
        result = a[p + 1 :] @ a[p + 1 :]
        if self.unbiased:
            f = a[: p + 1] @ self.q[: p + 1]
            result -= self.g * (self.Q @ (theta - f) ** 2)
        return result
