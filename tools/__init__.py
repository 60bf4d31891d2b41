"""Commands of build.sh that are neither the set-up of a virtual environment nor the tests: ``python -m tools.NAME``."""
