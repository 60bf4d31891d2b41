"""``libmode report``: what a classifier does to the mass, from files, as one page and as JSON.

:mod:`.cli` has the command; :mod:`.sources`, :mod:`.formats`, :mod:`.expressions` and :mod:`.read` bring the events,
:mod:`.judge` and :mod:`.spurious` call :mod:`libmode.metrics`, :mod:`.verdict`, :mod:`.figures` and :mod:`.page` say
what came out. ``pip install 'libmode[report]'``.
"""
