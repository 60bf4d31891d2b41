"""The studies of arXiv:2010.09745, each a package of its own; simple_model is also the demo."""
