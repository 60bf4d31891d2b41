"""What the docstrings of public names lack, and where their examples print something else than they say.

As a program: ``docstrings.py MODULE.NAME...`` prints as JSON what each of these lacks, a list of sentences.
"""

import doctest
import importlib
import inspect
import io
import json
import os
import pydoc
import re
import sys
import tempfile
import warnings

from numpydoc.validate import validate

NUMPYDOC = {"GL06", "GL07", "EX01"}  # unknown sections, sections in another order than its own, no example

# "Takes what :func:`mode_loss` takes", "as for :func:`objective`", "those of :class:`MoDeLoss`" and the like.
HANDED_ON = re.compile(
    r"(?:\bas(?:\s+for)?|takes(?:\s+and\s+raises)?\s+what|(?:those|that|arguments|numbers)\s+of)"
    r"\s+:(?:func|class|meth):`([\w.]+)`",
    re.IGNORECASE,
)
OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def lacks(path, thing, module):
    """What the docstring of a public name, and of the methods of a class, lacks.

    It has what numpydoc asks for, a word on every parameter, and an example that prints something. Methods that a
    framework or scikit-learn asks for and documents (forward, get_config, on_epoch_end...) need none.
    """
    own = (vars(thing).get("__doc__") if inspect.isclass(thing) else thing.__doc__) or ""  # no inherited one
    if not own or own.startswith(f"{thing.__name__}("):  # of a named tuple or a dataclass Python makes one up
        return ["it has no docstring"]
    found = [message for code, message in validate(path)["errors"] if code in NUMPYDOC]
    found += [] if any(example.want for example in examples(own)) else ["no example that prints something"]
    known = words_of(documented(thing, module)) | commented(thing)
    found += [f"no word on {name}" for name in parameters(thing) if name not in known]
    called = "".join(example.source for _, text in texts(thing) for example in examples(text))
    for name, member in members(thing).items():
        found += [] if member.__doc__ else [f"{name} has no docstring"]
        found += [] if re.search(rf"\.{name}\b", called) else [f"{name} is in no example"]
        if inspect.isroutine(member):
            words = known | words_of(documented(member, module))
            found += [f"no word on {own} of {name}" for own in parameters(member) if own not in words | {"self"}]
    return found


def parameters(thing):
    """The names of the parameters; none of an exception, which takes what is printed, and none of a row of options."""
    if inspect.isclass(thing) and issubclass(thing, BaseException):
        return []
    of = inspect.signature(thing).parameters.values()
    typed = {p.name for p in of if p.kind is p.VAR_POSITIONAL or "Unpack[" in str(p.annotation)}
    return [p.name for p in of if p.name not in typed]


def words_of(text):
    return set(re.findall(r"\w+", text))


def examples(text):
    return doctest.DocTestParser().get_examples(text or "")


def texts(thing):
    """The docstrings of a name and of the methods of a class."""
    return [("", thing.__doc__), *((name, member.__doc__) for name, member in members(thing).items())]


def locate(path):
    """What has this path, or None; of a module and a function in it of one name, the function, whatever the Python."""
    found = pydoc.locate(path)
    home, _, name = path.rpartition(".")
    return getattr(pydoc.locate(home), name, found) if home and inspect.ismodule(found) else found


def documented(thing, module, seen=()):
    """A docstring, with those to which it hands its reader on, and of a class that of its constructor."""
    text = inspect.getdoc(thing) or ""
    if inspect.isclass(thing) and getattr(thing.__init__, "__module__", "").startswith("libmode"):
        text += "\n" + (inspect.getdoc(thing.__init__) or "")
    for name in HANDED_ON.findall(text):
        own = thing.__module__.split(".")
        kind = thing.__qualname__ if inspect.isclass(thing) else thing.__qualname__.rpartition(".")[0]
        homes = [module, f"{thing.__module__}.{kind}", *(".".join(own[:k]) for k in range(len(own), 0, -1))]
        located = [locate(path) for path in (name, *(f"{home}.{name}" for home in homes))]
        other = next((place for place in located if place is not None), None)
        assert other is not None, f"{thing} hands its reader on to {name}, which is not there"
        if other is not thing and other not in seen:
            text += "\n" + documented(other, module, (*seen, thing))
    return text


def commented(thing):
    """The fields of a named tuple or a dataclass that a ``#:`` comment or a text below explains."""
    names = getattr(thing, "_fields", None) or getattr(thing, "__dataclass_fields__", {})
    source = inspect.getsource(thing) if names else ""
    return {name for name in names if re.search(rf"^    {name}: .*(#: \S|\n    \"\"\"\S)", source, re.MULTILINE)}


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
    for name, text in texts(thing):
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
        found[full] = lacks(full, thing, module) + failures(thing) if callable(thing) else []
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main(sys.argv[1:])
