"""The files of an exercise that decide scores, as one zip that can be kept."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator
from pathlib import Path

from grader.errors import AuthorError
from grader.exercise.catalog import MODULES, Exercise, read_exercise

_FIRST_DATE = (1980, 1, 1, 0, 0, 0)  # the earliest that a zip can hold: the same files give the same bytes


def pack(exercise: Exercise) -> bytes:
    """Return the files that `unpack` makes an exercise of again, as a zip."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in _files(exercise):
            archive.writestr(zipfile.ZipInfo(name, _FIRST_DATE), content, zipfile.ZIP_DEFLATED)
    return packed.getvalue()


def unpack(content: bytes, id: str, root: Path) -> Exercise:
    """Write what `pack` gave below `root`, an empty folder; return the exercise, with its code loaded.

    Raises:
        AuthorError: the files are damaged, or this grader does not understand them any more.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            archive.extractall(root)
        exercise = read_exercise(root / "exercises" / id, root)
        exercise.cases(seed=0)
        for load in exercise.attempts():
            load()
    except Exception as fault:  # code of another time, or damaged code, may fail in any way
        said = str(fault).replace(f"{root}/", "")
        raise AuthorError(said if isinstance(fault, AuthorError) else f"{type(fault).__name__}: {said}") from fault
    return exercise


def _files(exercise: Exercise) -> Iterator[tuple[str, bytes]]:
    folder = f"exercises/{exercise.id}"
    for name in ("exercise.toml", *MODULES):
        if (path := exercise.folder / name).is_file():
            yield f"{folder}/{name}", path.read_bytes()
    yield f"reference/{exercise.id}.py", exercise.reference_path.read_bytes()
    if (declined := exercise.folder.parent / "declined.toml").is_file():
        yield "exercises/declined.toml", declined.read_bytes()
