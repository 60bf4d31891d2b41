"""Classifiers with a uniform signal efficiency over a Dalitz plane, compared with hep_ml."""
