"""``libmode report``: whether a classifier sculpts the mass, from files, as one page and as JSON."""
