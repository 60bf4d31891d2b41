"""Annotations can be read, as by editors, and by programs that make documents or command lines of functions."""

import importlib
import inspect
import typing

import pytest

MODULES = ["libmode", "libmode.metrics", "libmode.plots", "libmode.torch"]
MODULES += ["libmode.compat.pytorch"]


def public(module):
    """Its functions, classes and their methods."""
    for name, value in vars(module).items():
        if not name.startswith("_") and getattr(value, "__module__", "").startswith("libmode"):
            yield value
            if inspect.isclass(value):
                yield from filter(inspect.isfunction, vars(value).values())


@pytest.mark.parametrize("name", MODULES)
def test_hints_of_all_public_names(name):
    found = [typing.get_type_hints(value) for value in public(importlib.import_module(name)) if callable(value)]
    assert any(found)


def test_the_options_are_in_the_hints():
    import libmode

    hints = typing.get_type_hints(libmode.mode_loss)
    held = typing.get_args(hints["options"])[0] if typing.get_args(hints["options"]) else hints["options"]
    assert "order" in typing.get_type_hints(held)
