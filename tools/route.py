"""Counts the functions of the core that a loss and a push of default options enter: ``python tools/route.py``

Each call runs once in a program that is built with coverage. The floors are the longest chain of imports among the
packages that it enters.
"""

from __future__ import annotations

import json
import os
import pathlib
import re
import subprocess
import tempfile

MODULE = "github.com/libmode/libmode/"
PROGRAM = """package main

import (
	"math"

	"github.com/libmode/libmode/core"
	%s
)

func main() {
	const n = 512
	score, mass, grad := make([]float32, n), make([]float32, n), make([]float32, n)
	for i := range n {
		score[i], mass[i] = float32(math.Mod(float64(i)*0.618034, 1)), float32(50+math.Mod(float64(i*i)*0.382, 100))
	}
	ev, cfg := core.Events[float32]{Score: score, Mass: mass}, core.DefaultConfig()
	%s
}
"""
CALLS = {  # the package that each needs beside core, and the call
    "LossAndGrad": ("", "_, err := core.LossAndGrad(grad, ev, cfg)"),
    "Direction": (
        '"github.com/libmode/libmode/core/constraint"',
        "row, size := func() []float32 { return make([]float32, n) }, constraint.StateSize(1, 0)\n"
        "rows := constraint.Rows[float32]{Push: grad, Multiplier: row(), Slope: row(), Part: row()}\n"
        "st := constraint.Steering{State: make([]float64, size)}\n"
        "err := constraint.Direction(rows, make([]float64, size), ev, cfg, st)",
    ),
}


def entered(package: str, call: str, folder: pathlib.Path) -> set[tuple[str, str]]:
    """Return the functions of the core that a call enters, each as its file and its line."""
    (folder / "main.go").write_text(PROGRAM % (package, call + "\n\tif err != nil {\n\t\tpanic(err)\n\t}"))
    subprocess.run(
        ["go", "build", "-cover", "-coverpkg=./core/...", "-o", folder / "program", f"./{folder}"], check=True
    )
    counts = folder / "counts"
    counts.mkdir()
    subprocess.run([folder / "program"], check=True, env={**os.environ, "GOCOVERDIR": str(counts)})
    profile = folder / "profile"
    subprocess.run(["go", "tool", "covdata", "textfmt", f"-i={counts}", f"-o={profile}"], check=True)
    functions = subprocess.run(
        ["go", "tool", "cover", f"-func={profile}"], check=True, text=True, capture_output=True
    ).stdout
    rows = re.findall(r"^\S*/(core/\S+\.go):(\d+):\s+(\S+)\s+([\d.]+)%$", functions, re.M)
    return {(file, line) for file, line, _, share in rows if float(share) > 0 and not file.startswith(str(folder))}


def floors(packages: set[str]) -> int:
    """Return the longest chain of imports among packages."""
    listed = subprocess.run(
        ["go", "list", "-json=ImportPath,Imports", "./core/..."], check=True, text=True, capture_output=True
    ).stdout
    imports = {p["ImportPath"]: p["Imports"] for p in json.loads("[" + listed.replace("}\n{", "},{") + "]")}

    def height(package: str) -> int:
        below = {path.removeprefix(MODULE) for path in imports.get(MODULE + package, [])}
        return 1 + max((height(p) for p in below & packages), default=0)

    return max(map(height, packages))


def main() -> None:
    os.chdir(pathlib.Path(__file__).parents[1])
    for name, call in CALLS.items():
        with tempfile.TemporaryDirectory(dir="core", prefix="route") as folder:
            found = entered(*call, pathlib.Path(folder))
        files = {file for file, _ in found}
        packages = {os.path.dirname(file) for file in files}
        print(f"{name}: {len(found)} functions in {len(files)} files on {floors(packages)} floors")


if __name__ == "__main__":
    main()
