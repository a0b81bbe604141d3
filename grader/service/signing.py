"""Signs what browsers keep, or what is sent to people, so that nothing of it has to be stored."""

from __future__ import annotations

import hashlib
from collections.abc import Callable

from itsdangerous import TimestampSigner


class Signer(TimestampSigner):
    """A signer by the service's clock; what is signed for one `purpose` is worth nothing for another one."""

    def __init__(self, secret: bytes, purpose: bytes, clock: Callable[[], float]) -> None:
        """Sign with `secret`."""
        super().__init__(secret, purpose, key_derivation="hmac", digest_method=hashlib.sha256)
        self._clock = clock

    def get_timestamp(self) -> int:
        """Return the seconds since the epoch."""
        return int(self._clock())
