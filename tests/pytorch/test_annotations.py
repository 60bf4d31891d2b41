"""Annotations can be read, as by editors, and by programs that make documents or command lines of functions."""

import importlib
import inspect
import typing

import libmode
import pytest


@pytest.mark.parametrize("module", ["libmode", "libmode.metrics", "libmode.plots", "libmode.torch"])
def test_hints_of_all_public_names(module):
    every = [value for name, value in vars(importlib.import_module(module)).items() if not name.startswith("_")]
    ours = [value for value in every if getattr(value, "__module__", "").startswith("libmode") and callable(value)]
    methods = [one for value in ours for one in vars(value).values() if inspect.isfunction(one)]
    assert any([typing.get_type_hints(value) for value in ours + methods])


def test_the_options_are_in_the_hints():
    (options,) = typing.get_args(typing.get_type_hints(libmode.mode_loss)["options"])
    assert "order" in typing.get_type_hints(options)
