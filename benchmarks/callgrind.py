"""Counts what functions execute, in a process that runs under callgrind; knows nothing of what they do."""

from __future__ import annotations

import ctypes
import gc
import mmap
from collections.abc import Callable

REQUEST = bytes.fromhex("4889f8 31d2 48c1c703 48c1c70d 48c1c73d 48c1c733 4887db 4889d0 c3")
"""``valgrind.h``'s client request for x86-64 as a function of the address of its arguments: rotations of one
register that come to nothing, which valgrind knows by their looks.
"""
ZERO, DUMP, START, STOP = 0x43540001, 0x43540003, 0x43540004, 0x43540005  # as in callgrind.h


def counted(work: dict[str, Callable[[], object]]) -> None:
    """Let callgrind write down the instructions of each leg, once caches are warm.

    Garbage is collected at the end of each leg, and counted there: automatic collections come at thresholds,
    which one object more may move into another leg.
    """
    page = mmap.mmap(-1, len(REQUEST), prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    page.write(REQUEST)
    code = ctypes.addressof(ctypes.c_char.from_buffer(page))
    call = ctypes.CFUNCTYPE(ctypes.c_size_t, ctypes.c_void_p)(code)

    def request(number: int, text: bytes = b"") -> None:
        name = ctypes.create_string_buffer(text)
        arguments = (ctypes.c_size_t * 6)(number, ctypes.addressof(name))
        call(ctypes.addressof(arguments))

    for leg in work.values():
        leg()
    gc.collect()
    gc.freeze()
    gc.disable()
    request(START)
    for name, leg in work.items():
        request(ZERO)
        leg()
        gc.collect()
        request(DUMP, name.encode())
    request(STOP)
