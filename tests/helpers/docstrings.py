"""What the docstrings of public names lack, and where their examples print something else than they say.

As a program: ``docstrings.py MODULE.NAME...`` prints as JSON what each of these lacks, a list of sentences.
"""

import doctest
import importlib
import inspect
import io
import json
import os
import re
import sys
import tempfile
import warnings
from pathlib import Path

from numpydoc.validate import validate

sys.path.append(str(Path(__file__).resolve().parents[2] / "docs"))
from complete import HANDED_ON

NUMPYDOC = {"GL06", "GL07", "EX01"}  # unknown sections, sections in another order than its own, no example
OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def lacks(path, thing):
    """What numpydoc asks for, an example that prints something, and a description of every parameter.

    Fields of what a function returns have comments, which the site shows.
    """
    if not thing.__doc__ or thing.__doc__.startswith(f"{thing.__name__}("):  # which Python makes up for a named tuple
        return ["it has no docstring"]
    found = [message for code, message in validate(path)["errors"] if code in NUMPYDOC]
    found += [] if any(example.want for example in examples(thing.__doc__)) else ["no example that prints something"]
    found += [f"{name} has no docstring" for name, member in members(thing).items() if not member.__doc__]
    if HANDED_ON.search(thing.__doc__):  # to another docstring, which docs/complete.py finds or is an error
        return found
    return found + [f"no word on {name}" for name in taken(thing) if not re.search(rf"\b{name}\b", thing.__doc__)]


def taken(thing):
    """The parameters but for typed options; none of an exception and of a result."""
    if inspect.isclass(thing) and (issubclass(thing, (BaseException, tuple)) or hasattr(thing, "__dataclass_fields__")):
        return []
    of = inspect.signature(thing).parameters.values()
    return [one.name for one in of if one.kind is not one.VAR_POSITIONAL and "Unpack[" not in str(one.annotation)]


def examples(text):
    return doctest.DocTestParser().get_examples(text or "")


def members(thing):
    """Public functions and properties that a class has from libmode and from no class of another package."""
    kinds = thing.__mro__ if inspect.isclass(thing) else ()
    ours = [kind for kind in kinds if kind.__module__.startswith("libmode")]
    others = {name for kind in kinds if kind not in ours for name in vars(kind)}
    return {
        name: getattr(thing, name)
        for kind in reversed(ours)
        for name, value in vars(kind).items()
        if not name.startswith("_") and name not in others
        if inspect.isfunction(value) or isinstance(value, (property, classmethod, staticmethod))
    }


def failures(thing):
    """What the examples of a name, and of its methods, print otherwise than they say; each runs by itself."""
    report = io.StringIO()
    runner = doctest.DocTestRunner(optionflags=OPTIONS, verbose=False)
    for name, text in [("", thing.__doc__), *((name, member.__doc__) for name, member in members(thing).items())]:
        own = f"{thing.__name__}.{name}"
        test = doctest.DocTestParser().get_doctest(text or "", {"__name__": "__main__"}, own, None, None)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.filterwarnings("ignore", "nothing judges whether the background is flat")  # trees of few events
            runner.run(test, out=report.write, clear_globs=False)
    return [report.getvalue()] if runner.failures else []


def main(names):
    directory = tempfile.TemporaryDirectory()
    os.chdir(directory.name)  # what an example leaves behind
    found = {}
    for full in names:
        module, _, name = full.rpartition(".")
        thing = getattr(importlib.import_module(module), name)
        # Of a constant Sphinx shows the comment.
        found[full] = lacks(full, thing) + failures(thing) if callable(thing) else []
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main(sys.argv[1:])
