"""The simple model of section 3.1 of arXiv:2010.09745: ``python -m examples.simple_model``.

data      draws the events
train     trains a classifier
study     the five classifiers that are compared
measure   what a selection keeps, overall and against mass
plots     the figures
"""
