# SPDX-FileCopyrightText: The sluice authors
# SPDX-License-Identifier: Apache-2.0
"""PTX inside a program: read it, and put changed text in its place.

The text lies in the section .nv_fatbin in entries of kind 1, as it is or packed with LZ4 or zstd. Changed text is packed
with zstd at its highest level and must fit into the room of the old one, so that nothing else of the program moves.
"""

import ctypes
import ctypes.util
import struct

CONTAINER = b"\x50\xed\x55\xba"
PTX = 1
FLAG_LZ4, FLAG_ZSTD = 0x3000, 0x8000


def _library(name):
    return ctypes.CDLL(ctypes.util.find_library(name) or f"lib{name}.so.1")


def _unpack(flags, stored, size):
    out = ctypes.create_string_buffer(size)
    if flags & FLAG_ZSTD:
        zstd = _library("zstd")
        zstd.ZSTD_decompress.restype = ctypes.c_size_t
        got = zstd.ZSTD_decompress(out, ctypes.c_size_t(size), stored, ctypes.c_size_t(len(stored)))
    elif flags & FLAG_LZ4:
        got = _library("lz4").LZ4_decompress_safe(stored, out, len(stored), size)
    else:
        return stored
    if got != size:
        raise ValueError("an entry does not unpack to its size")
    return out.raw


def _pack(text):
    zstd = _library("zstd")
    zstd.ZSTD_compress.restype = zstd.ZSTD_compressBound.restype = ctypes.c_size_t
    room = zstd.ZSTD_compressBound(ctypes.c_size_t(len(text)))
    out = ctypes.create_string_buffer(room)
    got = zstd.ZSTD_compress(out, ctypes.c_size_t(room), text, ctypes.c_size_t(len(text)), 22)
    if got > room:
        raise ValueError("zstd failed")
    return out.raw[:got]


def rewrite(program, change):
    """The bytes of the program with every PTX text replaced by change(text). Returns (bytes, texts seen)."""
    data, seen, at = bytearray(program), 0, 0
    while (at := data.find(CONTAINER, at)) >= 0:
        version, header, size = struct.unpack_from("<HHQ", data, at + 4)
        end = at + header + size
        if version != 1 or header != 16 or end > len(data):
            at += 4
            continue
        entry = at + header
        while end - entry >= 64:
            kind, _, entry_header, payload, packed = struct.unpack_from("<HHIQI", data, entry)
            flags, = struct.unpack_from("<Q", data, entry + 40)
            unpacked, = struct.unpack_from("<Q", data, entry + 56)
            if kind == PTX:
                seen += 1
                first = entry + entry_header
                stored = bytes(data[first:first + (packed or payload)])
                old = _unpack(flags, stored, unpacked).rstrip(b"\0")
                new = change(old.decode()).encode() + b"\0"
                if new != old + b"\0":
                    put = _pack(new)
                    if len(put) > payload:
                        raise ValueError(f"the changed text needs {len(put)} bytes, there is room for {payload}")
                    data[first:first + payload] = put.ljust(payload, b"\0")
                    struct.pack_into("<I", data, entry + 16, len(put))
                    struct.pack_into("<Q", data, entry + 40, flags & ~FLAG_LZ4 | FLAG_ZSTD)
                    struct.pack_into("<Q", data, entry + 56, len(new))
            entry += entry_header + payload
        at = end
    return bytes(data), seen
