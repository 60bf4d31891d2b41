"""libmode behind the signatures of other packages: :mod:`libmode.compat.pytorch` and :mod:`libmode.compat.tf`."""
