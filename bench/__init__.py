"""libmode beside everything a user could take instead: run with ``python -m bench.run``."""
