"""A folder of entries, each of which is given to exactly one of all the processes that ask.

An entry is of use only as the file that was written. A copy in another folder, on another disk or from a backup has
another inode, or one whose status changed later; what it was copied from may have been given to somebody already. Not
covered: a file system that goes back to an earlier state as a whole.
"""

from __future__ import annotations

import os
import secrets
import struct
import time
import zlib
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

_NAME = "[0-9a-f]" * 16
_ENDING = ".entry"
_PART = ".part"  # an entry that is being written
_PART_SECONDS = 60.0  # an entry that takes longer is none that anybody still writes
_NAMING_SECONDS = 2.0  # at most, from the end of an entry's text to its name
_TAIL = struct.Struct("<dI")  # when the entry was written, and a checksum over that and all else


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
                file.write(body)
                file.write(self._tail(body, os.fstat(file.fileno()).st_ino, time.time()))
            part.rename(name.with_suffix(_ENDING))
        except OSError:
            part.unlink(missing_ok=True)
            raise

    def take(self, size: int) -> bytearray | None:
        """Return an entry of `size` bytes that nobody else got or will get; None if none is left that is whole."""
        for name in self._names():
            with suppress(OSError):  # somebody else was quicker, or the disk cannot read it
                body = self._taken(name, size)
                if body is not None:
                    return body
        return None

    def _taken(self, name: str, size: int) -> bytearray | None:
        path = self.folder / name
        with open(path, "rb", buffering=0) as file:
            found = os.fstat(file.fileno())
            path.unlink()  # of all who have opened it one succeeds
            if found.st_size != size + _TAIL.size or found.st_nlink != 1:
                return None
            body = bytearray(found.st_size)
            file.readinto(body)
        tail = body[size:]
        del body[size:]
        written, _ = _TAIL.unpack(tail)
        own = abs(found.st_ctime - written) < _NAMING_SECONDS and tail == self._tail(body, found.st_ino, written)
        return body if own else None

    def _tail(self, body: bytes | bytearray, inode: int, written: float) -> bytes:
        told = f"{self.folder.name} {inode} {written}"
        return _TAIL.pack(written, zlib.crc32(told.encode(), zlib.crc32(body)))

    def _names(self) -> Iterator[str]:
        with suppress(OSError), os.scandir(self.folder) as found:  # mostly there is no such folder yet
            yield from (one.name for one in found if one.name.endswith(_ENDING) and one.is_file(follow_symlinks=False))


def clean(root: Path, keep: frozenset[str]) -> None:
    """Remove the folders of entries that are not called for, and what killed processes left half written.

    Nothing is removed but that: whatever else is below `root` is somebody's own, and behind a link it is elsewhere.
    """
    for folder in list(root.glob("*")):
        if folder.is_symlink():
            continue
        _remove(folder.glob(_NAME + _PART), older=_PART_SECONDS)
        if folder.name not in keep:
            _remove(folder.glob(_NAME + _ENDING))
            with suppress(OSError):  # something else is there, or somebody puts a new entry there
                folder.rmdir()


def _remove(paths: Iterator[Path], older: float = -1.0) -> None:
    for path in list(paths):
        with suppress(OSError):
            if abs(time.time() - path.lstat().st_mtime) > older:
                path.unlink()


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)
