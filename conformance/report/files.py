"""Writing a file as a whole or not at all."""

from __future__ import annotations

import os
import shutil
from pathlib import Path


def write_file(path: Path, text: str) -> None:
    """Write the text beside the file and then take its place, so that a failure leaves what was there.

    A link stays one. Devices, pipes and files in folders where nothing can be made are written themselves.
    """
    data = text.encode(errors="backslashreplace")  # in JSON, a lone surrogate's own escape
    target = Path(os.path.realpath(path))
    if is_special_file(path) or not os.access(target.parent, os.W_OK):
        path.write_bytes(data)
        return
    part = target.with_name(f".{os.getpid()}.part")
    try:
        part.write_bytes(data)
        if target.exists():
            shutil.copymode(target, part)
        part.replace(target)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def is_special_file(path: Path) -> bool:
    """Tell whether the path is of something that is written and stays: a device, a pipe, an open file."""
    return (path.exists() and not path.is_file()) or path.absolute().parts[1:2] == ("dev",)
