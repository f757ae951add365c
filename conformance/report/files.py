"""Writing a file as a whole or not at all."""

from __future__ import annotations

from pathlib import Path


def write_file(path: Path, text: str) -> None:
    """Write the text beside the file and then take its place, so that a failure leaves what was there."""
    data = text.encode()
    part = path.with_name(f"{path.name}.part")
    try:
        part.write_bytes(data)
        part.replace(path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
