"""What can be done after a training: maps of any score that take its dependence on the mass away, or make it smooth."""

from .quantile_map import QuantileMap

__all__ = ["QuantileMap"]
