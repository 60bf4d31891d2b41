"""Changes one line of the core or of the package at a time, and lists the changes that the nearest tests do not see.

usage: python -m tools.mutants core|python [--only REGEX] [--count N]

gremlins finds the places in Go, cosmic-ray those in Python. The changes are drawn with a fixed seed, and tried in a
copy of the last commit. tests/mutants has the survivors, each with the reason that we write there and a new run keeps.
An interrupted run goes on where it was; after ./build.sh clean a new one begins.
"""

from __future__ import annotations

import argparse
import difflib
import glob
import json
import multiprocessing
import os
import random
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

from . import install

GREMLINS = "github.com/go-gremlins/gremlins/cmd/gremlins@v0.6.0"
COSMIC_RAY = "cosmic-ray==8.7.0"
SEED, QUICK, LATE, LATE_GO = 68, 0.05, 600, 150  # seconds of a test that comes first, and until a command is ended
NO_BUILD = 3
WORK = install.ROOT / "build" / "mutants"
TREE = WORK / "tree"
TIMES, FAILED = WORK / "times.json", WORK / "failed"
PASS: set[str] = set()  # tests that pass without a change
LISTS = install.ROOT / "tests" / "mutants"
# What gremlins writes in place of a token, by the kind of the change.
SIGNS = {"+": "-", "-": "+", "*": "/", "/": "*", "%": "*"}
TOKENS = {
    "ARITHMETIC_BASE": SIGNS,
    "CONDITIONALS_BOUNDARY": {"<": "<=", "<=": "<", ">": ">=", ">=": ">"},
    "CONDITIONALS_NEGATION": {"==": "!=", "!=": "==", "<": ">=", ">=": "<", ">": "<=", "<=": ">"},
    "INCREMENT_DECREMENT": {"++": "--", "--": "++"},
    "INVERT_ASSIGNMENTS": {f"{a}=": f"{b}=" for a, b in SIGNS.items()},
    "INVERT_BITWISE": {"&": "|", "|": "&", "^": "&", "&^": "&", "<<": ">>", ">>": "<<"},
    "INVERT_LOGICAL": {"&&": "||", "||": "&&"},
    "INVERT_LOOPCTRL": {"break": "continue", "continue": "break"},
    "INVERT_NEGATIVES": {"-": "+"},
}
# Operators of cosmic-ray that change nothing (the types of annotations, "is" for "=="), or that no float has.
LEFT_OUT = r"BinaryOperator_(BitOr|\w+_(Bit|.Shift))|Operator_(Eq_Is|Is_Eq|NotEq_IsNot|IsNot_NotEq)$|RemoveDecorator"
# Tests that take seconds each: with them a run would take days.
SLOW_GO = "RandomBytes|BothSidesOf|FlatResp|TestBounds|Fluctuations|Allocations"
SLOW = "p_values or unbiased or numerics or fork or compile"
# What each process of tests has imported already.
MODULES = ["hypothesis", "numpy", "pandas", "pytest", "scipy.stats", "matplotlib.pyplot", "torch"]
# The nearest tests of a file are those of the first row that it matches: folders and files of tests/.
NEAREST = {
    r"_trees|xgboost|lightgbm": "trees",
    r"_device": "pytorch/test_on_device.py",
    r"jax/": "frameworks/test_jax.py frameworks/test_jax_constraint.py",
    r"keras/|_tensorflow": "frameworks/on_keras*.py frameworks/test_tensorflow.py",
    r"posthoc": "posthoc",
    r"weaver|salt|_of_classes": "recipes/test_weaver.py",
    r"report": "report",
    r"plots": "peers/test_metrics.py",
    r"metrics/": "core/test_[bcdhmo]*.py peers/test_[cms]*.py",
    r"torch/|_constraint|_problems": "pytorch",
    r"": "core pytorch/test_constraint.py pytorch/test_distance_correlation.py pytorch/test_traps.py",
}

Place = tuple[str, int, Callable[[str], str]]  # file, line, what changes the file's text


def places_in_go() -> Iterator[Place]:
    """What gremlins would change in the core."""
    found = WORK / "gremlins.json"
    kinds = [f"--invert-{kind}" for kind in ("logical", "loopctrl", "assignments", "bitwise")]
    command = ["go", "run", GREMLINS, "unleash", "--dry-run", "--silent", "--output", str(found), *kinds, "./core"]
    settings = os.environ | {"GOFLAGS": f"{os.environ['GOFLAGS']} -run=^$"}  # no tests yet, for coverage
    subprocess.run(command, cwd=TREE, check=True, stdout=subprocess.DEVNULL, env=settings)
    for one in sorted(json.loads(found.read_text())["files"], key=lambda one: one["file_name"]):
        for place in sorted(one["mutations"], key=lambda place: (place["line"], place["column"], place["type"])):
            at, before, tokens = place["line"] - 1, place["column"] - 1, TOKENS[place["type"]]

            def changed(text: str, at: int = at, before: int = before, tokens: dict[str, str] = tokens) -> str:
                lines = text.splitlines(keepends=True)
                rest = lines[at][before:]
                old = max((token for token in tokens if rest.startswith(token)), key=len)
                lines[at] = lines[at][:before] + tokens[old] + rest[len(old) :]
                return "".join(lines)

            yield f"core/{one['file_name']}", at + 1, changed


def places_in_python() -> Iterator[Place]:
    """What cosmic-ray would change in the package."""
    from cosmic_ray.commands.init import _all_work_items
    from cosmic_ray.mutating import mutate_code
    from cosmic_ray.plugins import get_operator

    for path in sorted((TREE / "python" / "libmode").rglob("*.py")):
        for item in _all_work_items([path], {}):
            (one,) = item.mutations
            if not re.search(LEFT_OUT, one.operator_name):
                operator = get_operator(one.operator_name)()
                change = lambda text, operator=operator, one=one: mutate_code(text, operator, one.occurrence)  # noqa: E731
                yield str(path.relative_to(TREE)), one.start_pos[0], change


class Quickest:
    """A plugin of pytest: of the tests that it collects, those come first that were quick before."""

    def __init__(self) -> None:
        self.seconds = json.loads(TIMES.read_text()) if TIMES.exists() else {}

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        items.sort(key=lambda item: self.seconds.get(item.nodeid, 0.0) > QUICK)

    def pytest_runtest_logreport(self, report: Any) -> None:
        self.seconds[report.nodeid] = max(report.duration, self.seconds.get(report.nodeid, 0.0))
        if report.failed:
            FAILED.write_text(report.nodeid)

    def pytest_unconfigure(self) -> None:
        TIMES.write_text(json.dumps(self.seconds))


def in_pytest(*tests: str) -> int:
    """The exit status of pytest, 124 if it is late, in a fork of this process, which has imported what takes long."""

    def run() -> None:
        main = sys.modules["__main__"]  # processes that tests start have another one
        main.__spec__, main.__file__ = None, None
        os.setsid()
        os.chdir(TREE)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        options = ["-qxp", "no:cacheprovider", "-W", "ignore:Module already imported", "-k", f"not ({SLOW})"]
        os._exit(import_module("pytest").main([*options, *tests], [Quickest()]))

    FAILED.unlink(missing_ok=True)
    process = multiprocessing.get_context("fork").Process(target=run)
    process.start()
    process.join(LATE)
    status = 124 if process.exitcode is None else process.exitcode
    in_bash(f"pkill -KILL -s {process.pid}")
    process.join()
    return status


def in_bash(command: str, late: int = LATE) -> int:
    """The exit status of a command, 124 or 137 if it is late."""
    limited = ["timeout", "-k", "5", str(late), "bash", "-c", f"ulimit -v 16000000; {command}"]
    return subprocess.run(limited, cwd=TREE, capture_output=True, check=False).returncode


def statuses(file: str) -> Iterator[int]:
    """Runs the nearest tests of a file, the quick ones first; a change of the core is in overlay.json."""
    if file.endswith(".py"):
        nearest = next(tests for pattern, tests in NEAREST.items() if re.search(pattern, file)).split()
        yield in_pytest(
            *(f"tests/{one}" for word in nearest for one in sorted(glob.glob(word, root_dir=TREE / "tests")))
        )
        return
    build = f"-overlay={WORK / 'overlay.json'} -ldflags='-s -w'"
    go_test = f"go test {build} -vet=off -failfast -skip '{SLOW_GO}'"
    if "internal" in file:  # seconds, and most changes die here
        package = f"./{Path(file).parent}"
        yield in_bash(f"go build {build} {package} || exit {NO_BUILD}; {go_test} {package}", LATE_GO)
    library = os.environ["LIBMODE_LIBRARY"] = str(WORK / "libmode.so")
    yield in_bash(f"go build {build} -buildmode=c-shared -o {library} ./capi || exit {NO_BUILD}")
    of_c = ("direction",) if "constraint" in file else ("error_table", "numpy", "curvature")
    yield in_pytest(*(f"tests/core/test_{name}.py" for name in of_c))
    yield in_bash(f"{go_test} ./core ./core/constraint")


def outcome(file: str, text: str) -> str:
    """What the nearest tests say to this text in place of the file's: "dies", "lives" or "time is up"."""
    if file.endswith(".py"):
        try:
            compile(text, file, "exec")
        except SyntaxError:
            return "does not compile"
    path = TREE / file
    before, then = path.read_text(), path.stat()
    try:
        if file.endswith(".go"):
            (WORK / "changed.go").write_text(text)
            (WORK / "overlay.json").write_text(json.dumps({"Replace": {str(path): str(WORK / "changed.go")}}))
        else:
            path.write_text(text)
        status = next(filter(None, statuses(file)), 0)
    finally:
        path.write_text(before)
        os.utime(path, ns=(then.st_atime_ns, then.st_mtime_ns))
    if file.endswith(".py") and FAILED.exists() and (test := FAILED.read_text()) not in PASS:
        PASS.add(test)
        if in_pytest(test):
            sys.exit(f"fails without a change: {test}")
    return {0: "lives", NO_BUILD: "does not compile", 124: "time is up", 137: "time is up"}.get(status, "dies")


def tree() -> None:
    """A copy of the commit where the run began, with the library, and without a change that an interrupt left there."""
    TREE.mkdir(parents=True, exist_ok=True)
    commit = WORK / "commit"
    if not commit.exists():
        commit.write_text(subprocess.check_output(["git", "rev-parse", "HEAD"], cwd=install.ROOT, text=True).strip())
    copy = f"git archive {commit.read_text()} | tar -x -C {shlex.quote(str(TREE))}"
    subprocess.run(copy, shell=True, cwd=install.ROOT, check=True)
    subprocess.run([sys.executable, "packaging/build_library.py", "stage", "python/libmode"], cwd=TREE, check=True)
    threads = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    os.environ |= {"PYTHONPATH": str(TREE / "python"), "KERAS_BACKEND": "torch", "JAX_PLATFORMS": "cpu", **threads}
    sys.dont_write_bytecode = True
    sys.path.insert(0, str(TREE / "python"))
    for module in MODULES:
        import_module(module)


def main(*arguments: str) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=["core", "python"])
    parser.add_argument("--only", default="", metavar="REGEX", help="of the file's name")
    parser.add_argument("--count", type=int, default=300)
    options = parser.parse_args(arguments)
    install.packages(COSMIC_RAY)
    install.toolchain()
    tree()
    all_places = places_in_go() if options.part == "core" else places_in_python()
    places = [one for one in all_places if re.search(options.only, one[0])]
    random.Random(SEED).shuffle(places)
    drawn = {(file, line): change for file, line, change in reversed(places)}  # one a line
    results = WORK / f"{options.part}.json"
    done = json.loads(results.read_text()) if results.exists() else {}
    for file, line in random.Random(SEED).sample(sorted(drawn), min(options.count, len(drawn))):
        text = (TREE / file).read_text()
        changed = drawn[file, line](text)
        difference = [row for row in difflib.ndiff(text.splitlines(), changed.splitlines()) if row[0] in "+-"]
        name = "\n".join([f"{file}:{line}", *(" ".join(row.split()) for row in difference)])
        if name not in done:
            done[name] = outcome(file, changed)
            results.write_text(json.dumps(done, indent=1))
            print(f"{done[name]}: {name}", flush=True)
    write(options.part, done)


def write(part: str, done: dict[str, str]) -> None:
    """Writes the list of survivors, with the reasons that stand in the old one."""
    path = LISTS / f"{part}.txt"
    old = path.read_text().split("\n\n") if path.exists() else []
    why = {tuple(one.splitlines()[1:3]): one.splitlines()[3:] for one in old}
    done = {name: what for name, what in done.items() if what != "does not compile"}
    lives = sorted(name for name, what in done.items() if what == "lives")
    late = sum(what == "time is up" for what in done.values())
    head = (
        f"{len(done)} changes of the commit {(WORK / 'commit').read_text()[:8]}: {len(done) - len(lives)} die "
        f"({late} as time is up), these {len(lives)} live."
    )
    blocks = ["\n".join([name, *why.get(tuple(name.splitlines()[1:3]), ["why: ?"])]) for name in lives]
    LISTS.mkdir(exist_ok=True)
    path.write_text("\n\n".join([head, *blocks]) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
