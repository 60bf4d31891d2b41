"""All that the core finds for a loss, with the bias and the bound of the curvature that trees need."""

from libmode._evaluate import evaluate
from libmode._options import check


def mode_evaluate(score, mass, *, weight=None, label=None, category=None, grad=True, hess=False, **options):
    return evaluate(check("mode", options), score, label, mass, weight, category, grad=grad, hess=hess, quality=True)
