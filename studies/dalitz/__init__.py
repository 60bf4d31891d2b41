"""A Dalitz plane in which the efficiency of the signal is to be uniform, beside hep_ml."""
