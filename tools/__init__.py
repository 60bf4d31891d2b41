"""Commands of build.sh beyond the set-up of the environment and the tests: ``python -m tools.NAME``."""
