"""Maps of the scores of a finished classifier, which remove their dependence on the mass or make it smooth."""

from .quantile_map import QuantileMap

__all__ = ["QuantileMap"]
