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
import time
import warnings

from libmode import option_types
from numpydoc.docscrape import NumpyDocString
from numpydoc.validate import ALLOWED_SECTIONS

# "Takes what :func:`mode_loss` takes", "as for :func:`objective`", "those of :class:`MoDeLoss`" and the like.
HANDED_ON = re.compile(
    r"(?:\bas(?:\s+for)?|takes(?:\s+and\s+raises)?\s+what|(?:those|that|arguments|numbers)\s+of)"
    r"\s+:(?:func|class|meth):`([\w.]+)`",
    re.IGNORECASE,
)

# An equation, an article, or a page of ours that has them.
SOURCE = re.compile(r"::\n|arXiv:\d|\(\d{4}\) \d|\bdocs/\w+")

# What reads, writes, collects or shows, and has no equation.
COMPUTES_NOTHING = {
    "libmode.get_threads", "libmode.set_threads", "libmode.keras.on_label", "libmode.keras.pack",
    "libmode.lightgbm.finalize", "libmode.torch.Reference", "libmode.torch.lightning.MoDeCallback",
}  # fmt: skip

# Arguments with an element for each event.
ARRAYS = {"category", "label", "mass", "score", "selected", "weight"}

OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE

# What Lightning says of PyTorch, and of a machine with more processors than an example has use for.
IGNORED = [
    r"`isinstance\(treespec, LeafSpec\)` is deprecated",
    "The 'train_dataloader' does not have many workers",
    "The 'val_dataloader' does not have many workers",
]


def lacks(thing, module, name):
    """What the docstring of a public name lacks.

    Everything that can be called has a sentence, an example and the shapes of its arrays; a function says what it
    returns; what takes arguments says what each is and what is raised; what computes says by which equation.
    Of a class its methods too, but those that a framework or scikit-learn asks for and documents (forward,
    get_config, on_epoch_end...): each is called in an example, its own or the class's.
    """
    own = own_docstring(thing, name)
    if own is None:
        return ["it has no docstring"]
    text, parameters, full = documented(thing, module), parameters_of(thing), f"{module}.{name}"
    sections = NumpyDocString(own)
    holds_results = bool(fields(thing)) or is_exception(thing)
    found = [f"no word on {parameter}" for parameter in without_words(thing, module)]
    if not re.match(r"\S[^\n]*(\n\S[^\n]*)*?[.:](\n\n|\n?$)", own):
        found.append("the first sentence has no end")
    if not holds_results:
        if parameters & ARRAYS and module != "libmode.plots" and not re.search(r"\(n, ?(\d|d|k)?\)", text):
            found.append("no shape of an array")
        if "mass" in parameters and "unit" not in text:
            found.append("no unit of the mass")
        if parameters and not sections["Raises"]:
            found.append("no section Raises")
        if not (full in COMPUTES_NOTHING or module == "libmode.plots" or SOURCE.search(text)):
            found.append("no equation and no source")
    if inspect.isfunction(thing) and not sections["Returns"] and returns_something(thing):
        found.append("no section Returns")
    found += [f"{heading} is no section or not in its place" for heading in misplaced(own)]
    found += [f"{parameter} is no parameter" for parameter in unknown(thing, sections)]
    found += of_members(thing, module)
    if not any(example.want for example in doctest.DocTestParser().get_examples(own)):
        found.append("no example that prints something")
    return found


def own_docstring(thing, name):
    """Not one that Python makes up for a named tuple or a dataclass, nor that of a class of a framework."""
    text = vars(thing).get("__doc__") if inspect.isclass(thing) else thing.__doc__
    return None if not text or re.match(rf"{name}\(", text) else inspect.cleandoc(text)


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


def fields(thing):
    """The fields of a named tuple or a dataclass, each with whether a ``#:`` comment or a text below says what it is."""
    names = getattr(thing, "_fields", None) or getattr(thing, "__dataclass_fields__", {})
    source = inspect.getsource(thing) if names else ""
    return {name: bool(re.search(rf"^    {name}: .*(#: \S|\n    \"\"\"\S)", source, re.MULTILINE)) for name in names}


def is_exception(thing):
    return inspect.isclass(thing) and issubclass(thing, BaseException)


def signature(thing):
    """The parameters; none of an exception, which takes what is printed."""
    return [] if is_exception(thing) else list(inspect.signature(thing).parameters.values())


def parameters_of(thing):
    return {parameter.name for parameter in signature(thing) if parameter.kind is not parameter.VAR_POSITIONAL}


def options_of(parameter):
    """The names that ``**options`` stands for, where its annotation says them."""
    kind = re.search(r"Unpack\[(\w+)\]", str(parameter.annotation))
    options = getattr(option_types, kind[1], None) if kind else None
    return set(options.__annotations__) if options is not None else set()


def without_words(thing, module):
    """The parameters that the docstring of a function or a class has no word on."""
    words, commented = set(re.findall(r"\w+", documented(thing, module))), fields(thing)
    missing = []
    for parameter in signature(thing):
        name = parameter.name
        if parameter.kind is parameter.VAR_POSITIONAL or name in words or commented.get(name):
            continue
        if parameter.kind is parameter.VAR_KEYWORD:  # either as "options", or each by its name
            options = options_of(parameter)
            if "options" in words or (options and options <= words):
                continue
        missing.append(name)
    return missing


def returns_something(function):
    return inspect.signature(function).return_annotation not in (None, "None", inspect.Signature.empty)


def misplaced(text):
    """Headings that numpydoc does not know, or that stand in another order than its own."""
    headings = re.findall(r"^(\w[\w ]*)\n-{3,}$", text, re.MULTILINE)
    places = [ALLOWED_SECTIONS.index(heading) if heading in ALLOWED_SECTIONS else -1 for heading in headings]
    return [heading for k, heading in enumerate(headings) if places[k] < max(places[:k], default=0)]


def unknown(thing, sections):
    """What stands in the section of the parameters and is none, such as a sentence after the last of them."""
    listed = [name for entry in sections["Parameters"] for name in entry.name.split(", ")]
    takes_more = any(parameter.kind is parameter.VAR_KEYWORD for parameter in signature(thing))
    known = parameters_of(thing)
    return [
        name
        for name in listed
        if name.lstrip("*") not in known and not (takes_more and re.fullmatch(r"\*{0,2}\w+", name))
    ]


def members(thing):
    """Public functions and properties that a class has from libmode and from no class of another package."""
    if not inspect.isclass(thing):
        return {}
    of_others = {name for kind in thing.__mro__ if not kind.__module__.startswith("libmode") for name in vars(kind)}
    kinds = [kind for kind in thing.__mro__ if kind.__module__.startswith("libmode")]
    return {
        name: getattr(thing, name)
        for kind in reversed(kinds)
        for name, value in vars(kind).items()
        if not name.startswith("_")
        and name not in of_others
        and (inspect.isfunction(value) or isinstance(value, (property, classmethod, staticmethod)))
    }


def of_members(thing, module):
    """What the methods and properties of a class lack."""
    found = []
    texts = [inspect.getdoc(thing) or "", *(inspect.getdoc(member) or "" for member in members(thing).values())]
    called = "".join(example.source for text in texts for example in doctest.DocTestParser().get_examples(text))
    for name, member in members(thing).items():
        if not inspect.getdoc(member):
            found.append(f"{name} has no docstring")
        if not re.search(rf"\.{name}\b", called):
            found.append(f"{name} is in no example")
        if inspect.isroutine(member):
            words = set(re.findall(r"\w+", documented(thing, module) + (inspect.getdoc(member) or "")))
            words |= set(re.findall(r"\w+", documented(member, module)))
            missing = [name for name in inspect.signature(member).parameters if name not in {*words, "self"}]
            found += [f"no word on {missing} of {name}" for missing in missing]
    return found


def failures(thing, name):
    """What the examples of a name, and of its methods, print otherwise than they say; each runs by itself."""
    report = io.StringIO()
    runner = doctest.DocTestRunner(optionflags=OPTIONS, verbose=False)
    for own, text in [
        (name, thing.__doc__),
        *((f"{name}.{key}", value.__doc__) for key, value in members(thing).items()),
    ]:
        test = doctest.DocTestParser().get_doctest(text or "", {"__name__": "__main__"}, own, None, None)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            for message in IGNORED:
                warnings.filterwarnings("ignore", message)
            runner.run(test, out=report.write, clear_globs=False)
    return [report.getvalue()] if runner.failures else []


def main(names):
    directory = tempfile.TemporaryDirectory()
    os.chdir(directory.name)  # what an example leaves behind
    found = {}
    for full in names:
        module, _, name = full.rpartition(".")
        thing = getattr(importlib.import_module(module), name)
        if not callable(thing):  # a constant, whose comment Sphinx shows
            found[full] = []
            continue
        start = time.perf_counter()
        found[full] = lacks(thing, module, name) + failures(thing, name)
        print(f"{time.perf_counter() - start:6.2f} s  {full}", file=sys.stderr)
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main(sys.argv[1:])
