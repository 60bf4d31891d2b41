"""W tagging with real jets: section 3.2 of arXiv:2010.09745."""
