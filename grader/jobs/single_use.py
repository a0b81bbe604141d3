"""A folder of entries, each of which is given to exactly one of all the processes that ask."""

from __future__ import annotations

import os
import secrets
import time
import zlib
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

_ENDING = ".entry"
_PART = ".part"  # an entry that is being written
_PART_SECONDS = 60.0  # an entry that takes longer is none that anybody still writes
_SUM_BYTES = 4


class SingleUseFiles:
    """The entries below one folder; they may be lost or damaged at any time, which costs nothing but themselves."""

    def __init__(self, folder: Path) -> None:
        """Use `folder`, which is made with the first entry."""
        self.folder = folder

    def __len__(self) -> int:
        """Count the entries."""
        return sum(1 for _ in self._names())

    def put(self, body: bytes | bytearray) -> None:
        """Add an entry; whoever takes it finds all of it.

        Raises:
            OSError: there is no room on the disk, or no permission. Nothing is left behind.
        """
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        name = self.folder / secrets.token_hex(8)
        part = name.with_suffix(_PART)
        try:
            with open(part, "xb", opener=_private) as file:
                file.write(zlib.crc32(body).to_bytes(_SUM_BYTES, "little"))
                file.write(body)
            part.rename(name.with_suffix(_ENDING))
        except OSError:
            part.unlink(missing_ok=True)
            raise

    def take(self) -> bytearray | None:
        """Return an entry that nobody else got or will get; None if there is none left that is whole."""
        for name in self._names():
            with suppress(OSError):  # somebody else was quicker, or the disk cannot read it
                body = self._taken(name)
                if body is not None:
                    return body
        return None

    def _taken(self, name: str) -> bytearray | None:
        path = self.folder / name
        with open(path, "rb") as file:
            data = bytearray(file.read())
        path.unlink()  # of all who read it one succeeds
        body = data[_SUM_BYTES:]
        return body if zlib.crc32(body).to_bytes(_SUM_BYTES, "little") == data[:_SUM_BYTES] else None

    def _names(self) -> Iterator[str]:
        with suppress(OSError), os.scandir(self.folder) as found:  # mostly there is no such folder yet
            yield from (entry.name for entry in found if entry.name.endswith(_ENDING))


def clean(root: Path, keep: frozenset[str]) -> None:
    """Remove the folders below `root` that are not called for, and what killed processes left half written."""
    for path in list(root.glob("*/*")):
        with suppress(OSError):
            abandoned = path.suffix == _PART and time.time() - path.stat().st_mtime > _PART_SECONDS
            if path.parent.name not in keep or abandoned:
                path.unlink()
    for folder in list(root.glob("*")):
        if folder.name not in keep:
            with suppress(OSError):  # somebody puts a new entry there
                folder.rmdir()


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)
