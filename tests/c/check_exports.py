"""Checks what libmode.so shows to the linker: the functions of mode.h and no other symbol, and its soname.

Usage: python check_exports.py libmode.so mode.h. Prints the number of checks.
It reads the ELF file itself, because nm and readelf are not on every machine.
"""

import re
import struct
import sys

DT_SONAME = 14
SHT_DYNAMIC, SHT_DYNSYM = 6, 11
SHN_UNDEF = 0


def read(data: bytes) -> tuple[set[str], str]:
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


with open(sys.argv[1], "rb") as library, open(sys.argv[2]) as header:
    symbols, soname = read(library.read())
    declared = set(re.findall(r"^MODE_API [^(]*?\b(mode_\w+)\(", header.read(), re.MULTILINE))
assert declared, "no function found in the header"
assert symbols == declared, f"exported but not in the header: {symbols - declared}; missing: {declared - symbols}"
assert soname == "libmode.so.1", f"soname is {soname!r}"
print(2)
