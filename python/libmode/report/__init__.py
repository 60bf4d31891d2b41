"""``libmode report``: whether a classifier sculpts the mass, from files, as one page and as JSON.

The command is in :mod:`.cli`. :mod:`.formats`, :mod:`.expressions` and :mod:`.events` read events in chunks,
:mod:`.sample` and :mod:`.fill` make a sample and histograms of them, :mod:`.judge` and :mod:`.spurious` call
:mod:`libmode.metrics`, and :mod:`.words` and :mod:`.figures` show the results.
"""
