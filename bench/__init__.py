"""Compares libmode with its alternatives: ``python -m bench.run``."""
