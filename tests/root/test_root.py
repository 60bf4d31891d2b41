"""The macros of examples/root and docs/cpp.md, in real ROOT, each in an empty directory.

They need ROOT's `root` command and, for PyROOT, its Python package in this Python: pip install root.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import golden
import libmode
import numpy as np
import pytest
import uproot
from libmode.prefix import PREFIX

REPOSITORY = Path(__file__).resolve().parents[2]
MACROS = REPOSITORY / "examples" / "root"

EXACT = 1e-12  # relative; what the macros' results may differ from NumPy's by
SIGNAL_MASS = 120.0  # GeV


@pytest.fixture(scope="session")
def events():
    """A peak over a falling background, and a score that knows of the peak; weights of either sign."""
    rng, size = np.random.default_rng(1), 20_000
    label = rng.integers(0, 2, size, dtype=np.int32)
    mass = np.where(label == 1, rng.normal(SIGNAL_MASS, 10, size), 50 + rng.exponential(60, size))
    logit = rng.normal(1.5 * label - 0.5) + 0.6 * np.exp(-0.5 * ((mass - SIGNAL_MASS) / 25) ** 2)
    columns = {"score": 1 / (1 + np.exp(-logit)), "mass": mass, "weight": rng.normal(1, 0.4, size)}
    return {name: column.astype(np.float32) for name, column in columns.items()} | {"label": label}


@pytest.fixture(scope="session")
def events_file(events, tmp_path_factory):
    return write_tree(events, tmp_path_factory.mktemp("events") / "events.root")


def write_tree(columns, path):
    """Writes columns as the tree "events" of a new file, and returns its path."""
    with uproot.recreate(path) as file:
        file.mktree("events", {name: column.dtype for name, column in columns.items()}).extend(columns)
    return path


def read_tree(path, tree, columns):
    """Columns of a tree, each (n,)."""
    with uproot.open(path) as file:
        return file[tree].arrays(columns, library="np", how=tuple)


class Session:
    """Runs commands and macros in an empty directory, where cling finds no library by chance."""

    def __init__(self, directory):
        self.directory = directory
        self.environment = os.environ | {"HOME": str(directory)}  # without anyone's .rootrc or .rootlogon.C
        # `pip install` puts root and libmode-config beside python.
        self.environment["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        self.set(LIBMODE=PREFIX, ROOT_INCLUDE_PATH=PREFIX / "include", LD_LIBRARY_PATH=None)

    def set(self, **variables):
        """Sets environment variables; None unsets."""
        for name, value in variables.items():
            self.environment.pop(name, None)
            if value is not None:
                self.environment[name] = str(value)

    def command(self, *command):
        """What a command does."""
        return subprocess.run(
            command, cwd=self.directory, env=self.environment, capture_output=True, text=True, timeout=300
        )

    def macro(self, path, arguments="", compiled=False):
        """What `root -q` of a copy of the macro does."""
        copy = shutil.copy(path, self.directory)
        return self.command("root", "-l", "-b", "-q", f"{copy}{'+' if compiled else ''}({arguments})")

    def output(self, path, arguments="", compiled=False):
        """What a macro that succeeds prints."""
        done = self.macro(path, arguments, compiled)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout


@pytest.fixture
def root(tmp_path):
    return Session(tmp_path)


def number(name, output):
    """The number that is printed after a name."""
    return float(re.search(rf"^{name} (\S+)$", output, re.MULTILINE)[1])


# ------------------------------------------------------------------ the loss


@pytest.mark.parametrize("compiled", [False, True], ids=["interpreted", "compiled"])
def test_loss_and_gradient_equal_numpy(root, events, events_file, compiled):
    output = root.output(MACROS / "mode_loss.C", f'"{events_file}", "events", 1', compiled)
    loss, grad = libmode.mode_loss_and_grad(**events, order=1)
    assert number("loss", output) == pytest.approx(loss, rel=EXACT)

    (written,) = read_tree(root.directory / "gradient.root", "gradient", ["grad"])
    np.testing.assert_array_equal(written, grad)
    assert np.any(grad != 0)


def test_golden_cases(root):
    paths = [golden.PATH, golden.PATH.with_name("variables.json")]
    cases = golden.CASES + golden.VARIABLES
    root.command(sys.executable, REPOSITORY / "tests" / "c" / "write_cases.py", root.directory / "golden.h", *paths)
    root.set(ROOT_INCLUDE_PATH=f"{PREFIX / 'include'}:{root.directory}")
    output = root.output(Path(__file__).with_name("golden.C"))

    got = [np.array(line.split()[1:], dtype=float) for line in output.splitlines() if line.startswith("case")]
    assert len(got) == len(cases) > 0
    for (loss, *grad), case in zip(got, cases, strict=True):
        assert loss == pytest.approx(case.loss, rel=1e-9), case.name
        assert grad == pytest.approx(case.grad, rel=0, abs=1e-9 * np.abs(case.grad).max()), case.name


def test_pyroot(root, events, events_file):
    done = root.command(sys.executable, "-W", "ignore", MACROS / "mode_pyroot.py", events_file)
    assert done.returncode == 0, done.stderr
    loss = libmode.mode_loss(**events, order=1)
    assert number("std::vector  loss", done.stdout) == pytest.approx(loss, rel=EXACT)
    assert number("NumPy        loss", done.stdout) == pytest.approx(loss, rel=EXACT)
    assert "gradients equal: True" in done.stdout


SIGNALS = """if True:
    import signal
    import ROOT
    import libmode

    use = lambda: libmode.mode_loss([0.1, 0.2, 0.3], [1, 2, 3], bins=1, order=0)
    use()
    ROOT.gInterpreter.Declare('''
        #include <csignal>
        bool on_stack(int number) { struct sigaction now; sigaction(number, nullptr, &now); return now.sa_flags & SA_ONSTACK; }
    ''')
    numbers = [signal.SIGSEGV, signal.SIGURG]
    print(*map(ROOT.on_stack, numbers))
    use()
    print(*map(ROOT.on_stack, numbers))
"""


def test_signals_beside_pyroot_do_not_write_over_memory(root):
    """ROOT sets its handlers when it is used for the first time, here after libmode is loaded; tests/c/test_signals.c sends some."""
    done = root.command(sys.executable, "-W", "ignore", "-c", SIGNALS)
    assert done.stdout.splitlines() == ["False False", "True True"], done.stderr


# ----------------------------------------------------------- scan and training


def test_scan(root, events, events_file):
    output = root.output(MACROS / "mode_scan.C", f'"{events_file}", "50,300"')

    score, mass, weight, label = events.values()
    edges = libmode.mode_edges(mass, label=label, bins=20, mass_range=(50, 300))
    signal = np.flatnonzero(label == 1)[np.argsort(-score[label == 1])]
    above = np.cumsum(weight[signal], dtype=float)
    lines = re.findall(r"efficiency (\d+) %: score >= (\S+), background efficiency (\S+) to (\S+)", output)
    assert [int(line[0]) for line in lines] == [80, 50, 20]
    for percent, threshold, low, high in np.array(lines, dtype=float):
        cut = score[signal[np.argmax(above >= percent / 100 * above[-1])]]
        kept, every = (
            np.histogram(mass[chosen], edges, weights=weight[chosen])[0]
            for chosen in ((label == 0) & (score >= cut), label == 0)
        )
        assert [threshold, low, high] == pytest.approx([cut, *np.sort(kept / every)[[0, -1]]], abs=1e-4)

    bins, (order, *losses) = (
        re.findall(r"(\d+) bins", output),
        re.search(r"^ *(1 .*)$", output, re.MULTILINE)[1].split(),
    )
    for n, loss in zip(map(int, bins), losses, strict=True):
        want = libmode.mode_loss(**events, order=int(order), bins=n, mass_range=(50, 300))
        assert float(loss) == pytest.approx(want, rel=0.006)  # 3 digits

    assert (root.directory / "mode_scan.png").read_bytes().startswith(b"\x89PNG\r\n")
    assert (root.directory / "mode_scan.pdf").read_bytes().startswith(b"%PDF")


# -------------------------------------------------------------------- docs


PAGE = (REPOSITORY / "docs" / "cpp.md").read_text()
PROGRAMS = re.findall(r"```cpp\n// (\w+\.C)\n(.*?)```", PAGE, re.DOTALL)


@pytest.mark.parametrize(("name", "program"), PROGRAMS, ids=[name for name, _ in PROGRAMS])
def test_documented_program(root, tmp_path_factory, name, program):
    root.set(ROOT_INCLUDE_PATH=None)
    macro = tmp_path_factory.mktemp("block") / name
    macro.write_text(program)
    assert 0 < number("loss", root.output(macro)) < 1


# -------------------------------------------------------------------- errors


ELSEWHERE = "/nowhere"
LIBRARY = ["libmode.so' file not found", "export LIBMODE=$(libmode-config --prefix)"]


@pytest.mark.parametrize("prefix", [None, ELSEWHERE])
@pytest.mark.parametrize("macro", sorted(MACROS.glob("*.C")), ids=lambda path: path.name)
def test_missing_library_says_what_to_set(root, macro, prefix):
    root.set(LIBMODE=prefix)
    done = root.macro(macro)
    assert done.returncode != 0 and all(said in done.stderr for said in LIBRARY)


@pytest.mark.parametrize(
    ("file", "tree", "message"),
    [
        ("none.root", "events", "none.root"),
        ("events.root", "other", "cannot read score/F, mass/F, weight/F and label/I of tree"),
        ("events.root", "events", "score[0] = 1.5"),
    ],
)
def test_bad_events_are_named(root, events, file, tree, message):
    first = {name: column[:1] for name, column in events.items()}
    write_tree(first | {"score": np.float32([1.5]), "label": np.int32([0])}, root.directory / "events.root")
    done = root.macro(MACROS / "mode_loss.C", f'"{file}", "{tree}"')
    assert done.returncode == 1 and message in done.stderr
    assert not (root.directory / "gradient.root").exists()
