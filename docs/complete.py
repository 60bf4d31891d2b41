"""Docstrings as the site shows them: with the arguments and results to which they hand their readers on, and See Also.

In Python, ``help`` shows the short text. numpydoc formats the long one.
"""

import inspect
import re
import sys
from importlib import import_module
from itertools import groupby
from pathlib import Path
from typing import Any

from numpydoc.docscrape import NumpyDocString, Parameter

# "As for :func:`efficiency`.", "Those of :func:`mode_loss`.", "Takes the arguments of :func:`roc`." and the like.
HANDED_ON = re.compile(
    r"(?:[Aa]s\s+for|[Ss]ee|(?:[Tt]hose|[Aa]rguments|options|events)\s+of)\s+:(?:func|class):`([\w.]+)`[.,;]?"
)
EVENTS = ("score", "label", "mass", "weight", "category")
SECTION = re.compile(r"^(\w[\w ]+)\n-{4,}\n", re.MULTILINE)
PAGE = (Path(__file__).with_name("reference.md")).read_text(encoding="utf-8")
LISTED = re.findall(r"currentmodule:: (\S+)\n\n.*\n(?:   :.*\n)+\n((?:   \w+\n)+)", PAGE)
PUBLIC = [f"{module}.{name}" for module, names in LISTED for name in names.split()]
#: What a reader of one may want next, besides names that are the same elsewhere.
TOGETHER = (
    ("mode_loss", "mode_loss_and_grad", "mode_evaluate", "mode_moments", "mode_edges"),
    ("torch.MoDeConstraint", "torch.MoDeLoss", "torch.MoDeMetrics"),
    ("keras.MoDeConstraint", "keras.MoDeLoss", "keras.MoDeCallback", "keras.pack", "keras.on_label"),
    ("jax.mode_constraint", "jax.mode_loss", "jax.State"),
    ("xgboost.objective", "xgboost.MoDeXGBClassifier", "lightgbm.MoDeLGBMClassifier"),
    ("metrics.check", "metrics.Check", "metrics.events_needed"),
    ("metrics.efficiency", "metrics.check"),
    ("metrics.roc", "plots.roc", "metrics.auc", "metrics.threshold", "metrics.rejection"),
    ("torch.distance_correlation", "mode_loss"),
    ("planing_weights", "torch.MoDeLoss", "xgboost.MoDeXGBClassifier"),
    ("set_threads", "mode_loss"),
)


def parameters(thing: Any) -> dict[str, Parameter]:
    """The described parameters by name, also those of functions to which the docstring hands its reader on."""
    text = inspect.getdoc(thing) or ""
    taken = inspect.signature(thing).parameters
    found: dict[str, Parameter] = {}
    for one in NumpyDocString(text)["Parameters"]:
        said = " ".join(one.desc)
        other = (HANDED_ON.search if one.name.startswith("**") else HANDED_ON.match)(said)
        theirs = parameters(named(other[1], thing)) if other else {}
        rest = [said[other.end() :].strip()] if other else []
        for name in re.split(r", ", one.name):
            if name in theirs:
                found[name] = Parameter(name, theirs[name].type, [*theirs[name].desc, *filter(None, rest)])
                rest = []
            elif theirs and name.startswith("**"):
                found |= {own: it for own, it in theirs.items() if own not in {*found, *taken, *EVENTS}}
            else:
                found[name] = Parameter(name, one.type, [qualified(line, thing) for line in one.desc])
    if other := HANDED_ON.search(SECTION.split(text)[0]):
        theirs = parameters(named(other[1], thing))
        options = any(one.kind is one.VAR_KEYWORD for one in taken.values())
        found |= {name: one for name, one in theirs.items() if name not in found and (name in taken or options)}
    return found


def named(name: str, thing: Any) -> Any:
    """What a docstring calls by this name: a public name, or one of its module."""
    home, _, last = name.rpartition(".")
    own = thing.__module__.split(".")
    homes = [home] if home else [".".join(own[:k]) for k in range(len(own), 0, -1)]
    return next(getattr(sys.modules[home], last) for home in homes if hasattr(import_module(home), last))


def qualified(text: str, thing: Any) -> str:
    """The text with whole names in its references, since it may stand on the page of another module."""
    homes = [name.rpartition(".")[0] for name in PUBLIC if name.endswith(f".{thing.__name__}")]
    home = next((home for home in homes if thing.__module__.startswith(home)), "libmode")

    def whole(found: re.Match[str]) -> str:
        name = found[2] if found[2].startswith("libmode.") else f"{home}.{found[2]}"
        return f":{found[1]}:`{name}`" if name in PUBLIC else f"``{found[2]}``"

    return re.sub(r":(func|class|attr|meth):`([\w.]+)`", whole, text)


def fields(thing: Any) -> list[str]:
    """The commented fields of what a function returns, as lines of a list."""
    kind = inspect.signature(thing).return_annotation
    kind = getattr(sys.modules[thing.__module__], str(kind), None)
    if not inspect.isclass(kind) or not (hasattr(kind, "_fields") or hasattr(kind, "__dataclass_fields__")):
        return []
    source = inspect.getsource(kind)
    comments = re.findall(r'^    (\w+): .*?(?:#: (.+)|\n    """([^"]+)""")$', source, re.MULTILINE)
    lines = [f"- ``{name}``: {qualified(' '.join((one or other).split()), kind)}" for name, one, other in comments]
    return ["", *lines, ""]


def related(full: str) -> list[str]:
    """The names of See Also."""
    short = full.removeprefix("libmode.")
    same = [name for name in PUBLIC if name.rpartition(".")[2] == full.rpartition(".")[2]]
    groups = [f"libmode.{name}" for group in TOGETHER if short in group for name in group]
    return [name for name in dict.fromkeys([*groups, *same]) if name != full]


def _section(name: str, entries: list[Parameter]) -> str:
    lines = [name, "-" * len(name)]
    for (kind, said), same in groupby(entries, key=lambda one: (one.type, one.desc)):
        names = ", ".join(one.name for one in same)
        lines += [f"{names} : {kind}" if names and kind else names or kind]
        lines += [f"    {line}" if line else "" for line in said]
    return "\n".join(lines) + "\n\n"


def complete(full: str, thing: Any) -> str:
    """The docstring of a public name, with all of this."""
    text = inspect.getdoc(thing) or ""
    head, *rest = SECTION.split(text)
    parts = dict(zip(rest[::2], rest[1::2], strict=True))
    doc = NumpyDocString(text)
    new = {}
    if inspect.isfunction(thing):
        new["Returns"] = [Parameter(one.name, one.type, [*one.desc, *fields(thing)]) for one in doc["Returns"]]
    if not (inspect.isclass(thing) and issubclass(thing, BaseException)):
        new["Parameters"] = list(parameters(thing).values())
    made = {name: _section(name, entries) for name, entries in new.items() if entries}
    made |= {name: f"{name}\n{'-' * len(name)}\n{body}" for name, body in parts.items() if name not in made}
    if others := related(full):
        things = {name: named(name, thing) for name in others}
        said = [f"{name} : {qualified(inspect.getdoc(it).splitlines()[0], it)}" for name, it in things.items()]
        made["See Also"] = "See Also\n--------\n" + "\n".join(said) + "\n\n"
    order = ("Parameters", "Attributes", "Returns", "Raises", "Warns", "See Also", "Notes", "Examples")
    return head + "".join(made[name] for name in sorted(made, key=order.index))


def _complete(app: Any, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    if name in PUBLIC and callable(thing):
        lines[:] = complete(name, thing).split("\n")


def setup(app: Any) -> dict[str, bool]:
    """Called by Sphinx."""
    app.connect("autodoc-process-docstring", _complete, priority=100)  # before numpydoc
    return {"parallel_read_safe": True}
