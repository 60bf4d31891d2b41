"""``libmode report``: whether a classifier sculpts the mass, from files, as one page and as JSON.

The command is in :mod:`.cli`. :mod:`.formats` and :mod:`.events` read files, :mod:`.sample` keeps what the checks use,
:mod:`.judge` calls :mod:`libmode.metrics`, and :mod:`.words` and :mod:`.figures` show the results.
"""
