"""libmode behind the signature of another package: :mod:`libmode.compat.pytorch`."""
