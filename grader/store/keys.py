"""What the service must remember and nobody may read: the secret behind the seeds, and the class code."""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
from contextlib import suppress
from pathlib import Path

from grader.errors import SettingsError
from grader.store import private
from grader.store.records import SubmissionId

ALPHABET = "abcdefghjkmnpqrstuvwxyz23456789"  # nothing that reads like something else
SECRET, CLASS_CODE = "secret", "class_code"
LONGEST_CODE = 80  # characters, as the database has them
SEED_BITS = 48  # every tool on the way, JavaScript included, holds such an integer exactly


def secret(directory: Path) -> bytes:
    """Return the secret of this installation, made at the first call.

    Raises:
        SettingsError: what is kept there is empty, or no secret.
    """
    try:
        return bytes.fromhex(_kept(directory / SECRET, secrets.token_hex(32)))
    except ValueError:
        said = f"{directory / SECRET} is damaged; expected: hexadecimal digits, as they were drawn"
        raise SettingsError(said) from None


def class_code(directory: Path) -> str:
    """Return the class code that this installation began with, drawn at the first call.

    Raises:
        SettingsError: what is kept there is empty, or nothing that anybody could type.
    """
    code = _kept(directory / CLASS_CODE, drawn_code())
    if not code.isprintable() or len(code) > LONGEST_CODE:
        raise SettingsError(f"{directory / CLASS_CODE} is damaged; expected: one line, as it was drawn")
    return code


def drawn_code() -> str:
    """Return a class code that nobody guesses."""
    letters = "".join(secrets.choice(ALPHABET) for _ in range(12))  # of 31: 59 bits
    return f"{letters[:4]}-{letters[4:8]}-{letters[8:]}"


def seed_of(secret: bytes, id: SubmissionId) -> int:
    """Return the seed of a submission: nobody without the secret can foretell it, and it is always the same."""
    digest = hmac.digest(secret, f"seed:{id}".encode(), hashlib.sha256)
    return int.from_bytes(digest[:8], "big") >> (64 - SEED_BITS)


def signature(secret: bytes, *values: object) -> str:
    """Return the HMAC-SHA256 of kept grading files, over every column of their row.

    Nobody without the secret can make it for other files, or for these under another name. The first word keeps it
    apart from whatever else is derived from the secret.
    """
    return hmac.digest(secret, repr(("grading files", *values)).encode(), hashlib.sha256).hex()


def keep(path: Path, text: str) -> None:
    """Store a text for its owner alone, unless there is one."""
    # Linked into place when complete, so that another process never reads half of it and the first one wins.
    draft = path.with_name(f"{path.name}.{secrets.token_hex(8)}")
    handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, private.FILE_MODE)
    with os.fdopen(handle, "w") as file:
        file.write(text)
    with suppress(FileExistsError):  # another process was first; its text counts
        os.link(draft, path)
    draft.unlink()


def _kept(path: Path, fresh: str) -> str:
    if not path.exists():
        private.make_folder(path.parent)
        keep(path, fresh)
    text = path.read_text(errors="replace").strip()
    if not text:  # an empty code would let everybody in, and an empty secret would foretell every seed
        raise SettingsError(
            f"{path} is empty; restore what it held, or delete it, and the next start draws another one"
        )
    return text
