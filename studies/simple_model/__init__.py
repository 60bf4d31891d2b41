"""The simple model of section 3.1 of arXiv:2010.09745: ``python -m studies.simple_model``.

demo          what the command does, with its arguments
data          draws the events
classifiers   those that are compared
train         trains one
study         trains and returns scores of fresh events
measure       what a selection keeps, overall and against mass
plots         the figures
"""
