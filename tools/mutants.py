"""Changes one line of the core or of the package at a time, and lists the changes that the nearest tests do not see.

usage: python -m tools.mutants core|python [--only REGEX] [--count N]

gremlins finds the places in Go, cosmic-ray those in Python. The changes are drawn with a fixed seed, and tried in a
copy of the last commit. tests/mutants has the survivors, each with the reason that we write there and a new run keeps.
An interrupted run goes on where it was; after ./build.sh clean a new one begins.
"""

from __future__ import annotations

import argparse
import difflib
import json
import os
import random
import re
import shlex
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

from . import install

GREMLINS = "github.com/go-gremlins/gremlins/cmd/gremlins@v0.6.0"
COSMIC_RAY = "cosmic-ray==8.7.0"
SEED, SECONDS = 68, 60
WORK = install.ROOT / "build" / "mutants"
TREE = WORK / "tree"
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
SLOW = "p_values or unbiased or numerics or every_form or ten_thousand or fuzz or fork"
# The nearest tests of a file are those of the first row that it matches: folders and files of tests/.
NEAREST = {
    r"_trees|xgboost|lightgbm": "trees/test_boosted_*.py",
    r"_device/|jax/": "frameworks/test_jax.py frameworks/test_jax_constraint.py",
    r"keras/|_tensorflow|_host_constraint": "frameworks/test_keras.py frameworks/test_tensorflow.py",
    r"posthoc": "posthoc",
    r"weaver|salt": "recipes/test_weaver.py",
    r"compat": "peers/test_compat.py",
    r"report": "report",
    r"plots": "pytorch/test_plots.py",
    r"metrics/(_bins|closure|mass|roc|_sample|_spectrum)": "core/test_check.py"
    " core/test_[bh]*.py peers/test_metrics.py peers/test_metric_errors.py peers/test_closure.py",
    r"metrics": "core/test_check.py core/test_dependence.py core/test_histograms.py core/test_overlaps.py"
    " core/test_monitor.py peers/test_metric_errors.py peers/test_spurious_signal.py",
    r"torch/(_digits|_op|loss|_softmax|_of_classes|transform)": "pytorch/test_torch.py pytorch/test_[eghls]*.py"
    " pytorch/test_option_values.py pytorch/test_per_class.py",
    r"torch/(abcd|distance|_gather|metrics|reference)": "pytorch/test_ab*.py pytorch/test_[dgr]*.py pytorch/test_t*.py",
    r"torch|_constraint|_convergence|_bad_batches|_strength": "pytorch/test_[bcst]*.py pytorch/test_on_device.py",
    r"": "core/test_[abcdnmosv]*.py core/test_error_table.py core/test_package.py core/test_planing.py",
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


def tests(file: str) -> Iterator[str]:
    """Commands that run the nearest tests of a file; a change of the core is in overlay.json."""
    pytest = f"{sys.executable} -m pytest -x -q -k 'not ({SLOW})'"
    if file.endswith(".py"):
        nearest = next(tests for pattern, tests in NEAREST.items() if re.search(pattern, file))
        yield f"{pytest} {' '.join(f'tests/{one}' for one in nearest.split())}"
        return
    overlay = f"-overlay={WORK / 'overlay.json'}"
    further = ["./core", "./core/constraint"] if "internal" in file else []
    for folder in dict.fromkeys([f"./{Path(file).parent}", *further]):
        yield f"go test {overlay} -vet=off -failfast -timeout 0 -skip '{SLOW_GO}' {folder}"
    staged = WORK / "staged"
    yield f'GOFLAGS="$GOFLAGS {overlay}" {sys.executable} packaging/build_library.py stage {staged}'
    of_c = " ".join(f"tests/core/test_{name}.py" for name in ("direction", "numpy", "error_table", "curvature"))
    yield f"LIBMODE_LIBRARY={staged}/lib/libmode.so {pytest} {of_c}"


def outcome(file: str, text: str) -> str:
    """What the nearest tests say to this text in place of the file's: "dies", "lives" or "time is up"."""
    commands = {command: longest(command) for command in tests(file)}
    path = TREE / file
    before, then = path.read_text(), path.stat()
    try:
        if file.endswith(".go"):
            (WORK / "changed.go").write_text(text)
            overlay(path)
        else:
            path.write_text(text)
        for command, seconds in commands.items():
            status, said = ended(command, seconds)
            if "[build failed]" in said:
                return "does not compile"
            if status:
                return "time is up" if status in (124, 137) else "dies"
        return "lives"
    finally:
        path.write_text(before)
        os.utime(path, ns=(then.st_atime_ns, then.st_mtime_ns))  # so that Python compiles neither again
        if file.endswith(".go"):  # a run of the package beside this one leaves the overlay alone
            overlay()


def overlay(*paths: Path) -> None:
    """Has Go read changed.go in place of this file, or of none."""
    replace = {str(path): str(WORK / "changed.go") for path in paths}
    (WORK / "overlay.json").write_text(json.dumps({"Replace": replace}))


@cache
def longest(command: str) -> float:
    """How long tests may take: three times as long as without a change, where they pass."""
    start = time.monotonic()
    if ended(command, 10 * SECONDS)[0]:
        sys.exit(f"fails without a change: {command}")
    return SECONDS + 3 * (time.monotonic() - start)


def ended(command: str, seconds: float) -> tuple[int, str]:
    """The exit status of a command, 124 or 137 after this time, and what it printed."""
    limited = f"ulimit -v 16000000; timeout -k 5 {seconds:.0f} bash -c {shlex.quote(command)}"
    done = subprocess.run(["bash", "-c", limited], cwd=TREE, capture_output=True, text=True)
    return done.returncode, done.stdout


def tree() -> None:
    """A copy of the commit where the run began, with the library, and without a change that an interrupt left there."""
    TREE.mkdir(parents=True, exist_ok=True)
    commit = WORK / "commit"
    if not commit.exists():
        commit.write_text(subprocess.check_output(["git", "rev-parse", "HEAD"], cwd=install.ROOT, text=True).strip())
    copy = f"git archive {commit.read_text()} | tar -x -C {shlex.quote(str(TREE))}"
    subprocess.run(copy, shell=True, cwd=install.ROOT, check=True)
    subprocess.run([sys.executable, "packaging/build_library.py", "stage", "python/libmode"], cwd=TREE, check=True)
    os.environ |= {"PYTHONPATH": str(TREE / "python"), "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


def main(*arguments: str) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=["core", "python"])
    parser.add_argument("--only", default="", metavar="REGEX", help="of the file's name")
    parser.add_argument("--count", type=int, default=300)
    options = parser.parse_args(arguments)
    install.packages(COSMIC_RAY)
    install.toolchain()
    tree()
    if options.part == "core":
        overlay()
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
    head = f"{len(done)} changes: {len(done) - len(lives)} die ({late} as time is up), these {len(lives)} live."
    blocks = ["\n".join([name, *why.get(tuple(name.splitlines()[1:3]), ["why: ?"])]) for name in lives]
    LISTS.mkdir(exist_ok=True)
    path.write_text("\n\n".join([head, *blocks]) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
