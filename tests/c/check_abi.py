"""Compares the binary interface of libmode.so with tests/c/abi.txt.

Usage: python check_abi.py [--renew] libmode.so mode.h abi.txt COMPILER...

The interface: the soname, the exported symbols with their types, the values of
the enumerators, and the sizes and offsets in the structs, as the C compiler
sees them. The names are taken from mode.h, so that none is forgotten here. Prints
the number of lines compared; with --renew it writes abi.txt instead. It reads
the ELF file itself, because nm and readelf are not on every machine.
"""

from __future__ import annotations

import difflib
import re
import struct
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

#: Declares what the Python package calls beside, which is no part of the interface.
PRIVATE = Path(__file__).parents[2] / "capi" / "private.h"

DT_SONAME = 14
SHT_DYNAMIC, SHT_DYNSYM = 6, 11
SHN_UNDEF = 0

CHANGED = """\
{diff}
The binary interface is not that of {path}. Was the change meant?
  No: undo it. Programs that are compiled already rely on the old one.
  Yes, and such programs still work (a new function or enumerator): renew the file, tests/c/run.sh VENV_DIR --renew-abi
  Yes, and such programs break: raise MODE_ABI_VERSION and the soname too."""


def exports(data: bytes) -> tuple[set[str], str]:
    """The defined dynamic symbols and the soname of a 64-bit little-endian ELF file."""
    assert data[:6] == b"\x7fELF\x02\x01", "not a 64-bit little-endian ELF file"
    section_offset, size, count = (*struct.unpack_from("<Q", data, 40), *struct.unpack_from("<HH", data, 58))
    sections = [struct.unpack_from("<IIQQQQIIQQ", data, section_offset + k * size) for k in range(count)]

    def string(table: int, at: int) -> str:
        start = sections[table][4] + at
        return data[start : data.index(b"\0", start)].decode()

    symbols, soname = set(), ""
    for _, kind, _, _, offset, length, linked, *_ in sections:
        if kind == SHT_DYNSYM:
            for at in range(offset, offset + length, 24):
                name, _, _, section = struct.unpack_from("<IBBH", data, at)
                if section != SHN_UNDEF:
                    symbols.add(string(linked, name))
        elif kind == SHT_DYNAMIC:
            for at in range(offset, offset + length, 16):
                tag, value = struct.unpack_from("<QQ", data, at)
                if tag == DT_SONAME:
                    soname = string(linked, value)
    return symbols, soname


def functions(header: str) -> dict[str, str]:
    """The type of each function of the header, such as "int (const double *, size_t)", by name."""
    found = {}
    for result, name, parameters in re.findall(r"^MODE_API ([^(;]*?)\b(mode_\w+)\(([^)]*)\);", header, re.MULTILINE):
        types = [re.sub(r"(?<=[\s*])\w+$", "", " ".join(parameter.split())) for parameter in parameters.split(",")]
        found[name] = f"{result.strip()} ({', '.join(type.strip() for type in types)})"
    assert found, "no function found in the header"
    return found


def structs(header: str) -> dict[str, list[str]]:
    """The members of each struct of the header."""
    bodies = re.findall(r"^typedef struct (\w+) \{(.*?)\} \1;", header, re.DOTALL | re.MULTILINE)
    assert bodies, "no struct found in the header"
    return {name: re.findall(r"(\w+)(?:\[\w+\])?;", body) for name, body in bodies}


def enumerators(header: str) -> list[str]:
    """The enumerators of the header."""
    listed = re.findall(r"^enum \{(.*?)\};", header, re.DOTALL | re.MULTILINE)
    found = [name for body in listed for name in re.findall(r"\b(MODE_\w+) =", body)]
    assert len(found) == sum(len([part for part in body.split(",") if part.strip()]) for body in listed), (
        "not each has a number"
    )
    assert found, "no enumerator found in the header"
    return found


def layout(header: str, include: Path, compiler: list[str]) -> Iterator[str]:
    """What a compiled program says about the names of the header."""
    lines = ['printf("sizeof(void *) %zu\\n", sizeof(void *));']
    names = ["MODE_ABI_VERSION", *enumerators(header)]
    lines += [f'printf("{name} %d\\n", {name});' for name in names]
    for struct_name, members in structs(header).items():
        lines += [f'printf("{struct_name} size %zu\\n", sizeof({struct_name}));']
        lines += [
            f'printf("{struct_name}.{name} offset %zu size %zu\\n", offsetof({struct_name}, {name}), '
            f"sizeof((({struct_name} *)0)->{name}));"
            for name in members
        ]
    with tempfile.TemporaryDirectory() as work:
        source, program = Path(work, "abi.c"), Path(work, "abi")
        source.write_text("#include <stdio.h>\n#include <mode.h>\nint main(void) {\n" + "\n".join(lines) + "\n}\n")
        subprocess.run([*compiler, "-std=c99", f"-I{include}", source, "-o", program], check=True)
        yield from subprocess.run([program], check=True, capture_output=True, text=True).stdout.splitlines()


def interface(library: Path, header: Path, compiler: list[str]) -> list[str]:
    """The lines of abi.txt."""
    text = re.sub(r"/\*.*?\*/", "", header.read_text(), flags=re.DOTALL)
    declared = functions(text)
    private = functions(PRIVATE.read_text())
    symbols, soname = exports(library.read_bytes())
    known = {*declared, *private}
    assert symbols == known, f"exported but in no header: {symbols - known}; missing: {known - symbols}"
    return [
        f"soname {soname}",
        *layout(text, header.parent, compiler),
        *(f"{name}: {type}" for name, type in declared.items()),
    ]


def main(arguments: list[str]) -> None:
    renew = arguments[0] == "--renew"
    library, header, path = map(Path, arguments[renew : renew + 3])
    now = interface(library, header, arguments[renew + 3 :])
    if renew:
        path.write_text("\n".join(now) + "\n")
        print(f"wrote {path}", file=sys.stderr)
    before = path.read_text().splitlines()
    if now != before:
        diff = "\n".join(difflib.unified_diff(before, now, str(path), "as built", n=0, lineterm=""))
        sys.exit(CHANGED.format(diff=diff, path=path))
    print(len(now))


main(sys.argv[1:])
