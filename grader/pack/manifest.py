"""The list of what a pack holds, with a hash of each file, so that a damaged one is told from a wrong answer."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, ValidationError

from grader.errors import GraderFault

DATA, MANIFEST = "data", "pack.json"
SPEC, CASES, EXPECTED, ROUNDED = "exercise.toml", "cases.bin", "expected.bin", "rounded.bin"


class Damaged(GraderFault):
    """A pack is not as it was written; the text names the file."""


class Manifest(BaseModel):
    """Which exercise a pack is about, what its tensors were drawn from, and the SHA-256 of each file of its data."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    format_version: Literal[1] = 1
    exercise: str
    seed: int
    files: dict[str, str]

    @classmethod
    def of(cls, exercise: str, seed: int, files: dict[str, bytes]) -> Self:
        """List `files`."""
        return cls(exercise=exercise, seed=seed, files={name: _digest(data) for name, data in files.items()})


def read_data(folder: Path) -> tuple[Manifest, dict[str, bytes]]:
    """Return the manifest of the pack in `folder`, and each file that it lists.

    Raises:
        Damaged: a file is missing or was changed.
    """
    try:
        manifest = Manifest.model_validate_json(_read(folder / DATA / MANIFEST))
    except ValidationError as error:
        raise Damaged(f"`{DATA}/{MANIFEST}` of this pack is damaged; unpack the pack again") from error
    files = {name: _read(folder / DATA / name) for name in (SPEC, CASES, EXPECTED, ROUNDED)}
    for name, data in files.items():
        if manifest.files.get(name) != _digest(data):
            raise Damaged(f"`{DATA}/{name}` of this pack was changed since the pack was written; unpack the pack again")
    return manifest, files


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        where = f"{path.parent.name}/{path.name}"
        raise Damaged(f"`{where}` of this pack cannot be read ({error.strerror}); unpack the pack again") from error


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
