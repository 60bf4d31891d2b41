"""Threads, signals and other libraries of Go beside the library: each scenario in a process of its own, which is killed if
it hangs."""

import subprocess
import sys
from pathlib import Path

import pytest
import thread_scenarios

ROOT = Path(__file__).resolve().parents[2]

OTHER = """package main

import "C"
import "runtime"

//export Work
func Work(n int64) (sum int64) {
	parts := make(chan int64)
	for k := range n {
		go func() { parts <- k }()
	}
	for range n {
		sum += <-parts
	}
	runtime.GC()
	return sum
}

func main() {}
"""


def run(*arguments):
    """Runs a scenario."""
    ended = subprocess.run(
        [sys.executable, thread_scenarios.__file__, *map(str, arguments)],
        capture_output=True, text=True, timeout=thread_scenarios.LIMIT,
    )  # fmt: skip
    assert ended.returncode == 0, f"{ended.returncode}: {ended.stdout}{ended.stderr}"


@pytest.mark.parametrize("name", ["sixty_four_threads", "profiled", "one_processor"])
def test_scenario(name):
    run(name)


@pytest.fixture(scope="module")
def another(tmp_path_factory):
    """Another library of Go."""
    folder = tmp_path_factory.mktemp("other")
    (folder / "other.go").write_text(OTHER)
    subprocess.run(
        ["go", "build", "-buildmode=c-shared", "-o", "other.so", "other.go"], cwd=folder, check=True, timeout=600
    )
    return folder / "other.so"


@pytest.mark.parametrize("order", ["first", "last"])
def test_beside_another_library_of_go(another, order):
    run("beside_another", another, order)


def test_the_limit_of_processors_of_a_container_counts():
    """Go follows it by default from the version 1.25 of go.mod on, and here because capi says so."""
    listed = subprocess.run(
        ["go", "list", "-f", "{{.DefaultGODEBUG}}", "./capi"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    settings = listed.stdout.strip().split(",")
    assert settings != [""]
    assert "containermaxprocs=0" not in settings
    assert "updatemaxprocs=0" not in settings
