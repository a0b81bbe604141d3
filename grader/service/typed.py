"""What people type, in the form in which it is compared, and the rules that a password has to keep."""

from __future__ import annotations

import hashlib
import re
import unicodedata

from grader.errors import NotAllowed
from grader.service.names import fold

PASSWORD_LENGTH = range(10, 201)
LONGEST_KEY = 200  # characters; a longer name is nobody's


def check_length(password: str) -> None:
    """Refuse a password that is too short or too long.

    Raises:
        NotAllowed: it is.
    """
    if len(password) not in PASSWORD_LENGTH:
        shortest, longest = PASSWORD_LENGTH.start, PASSWORD_LENGTH.stop - 1
        raise NotAllowed(f"A password has {shortest} to {longest} characters; this one has {len(password)}.")


def key_of(name: str) -> str:
    """Return a name folded, as the store looks for it."""
    # No name holds a zero, and not every database takes one.
    return fold(name[:LONGEST_KEY])[:LONGEST_KEY].replace("\0", "\ufffd")


def plain(password: str) -> bytes:
    """Return a password's bytes, the same from every keyboard."""
    # The same letters typed on another machine may come composed otherwise; half a surrogate pair must not raise.
    # To put many accents in order takes the square of their number, so it is cut before.
    return unicodedata.normalize("NFC", password[: PASSWORD_LENGTH.stop])[: PASSWORD_LENGTH.stop].encode(
        errors="surrogatepass"
    )


def code_of(class_code: str) -> bytes:
    """Return a class code as it is compared: capitals, hyphens and blanks make no difference."""
    # A code of nothing but hyphens is compared as it is, else no code at all would equal it.
    return (re.sub(r"[\s-]", "", class_code).lower() or class_code.strip()).encode(errors="surrogatepass")


def digest(token: str) -> str:
    """Return the hash under which a session is stored."""
    return hashlib.sha256(token.encode(errors="surrogatepass")).hexdigest()
