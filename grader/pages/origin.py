"""Which site a writing request comes from: the page's own, by scheme, host and port, or another one.

A browser says it in `Origin` and `Sec-Fetch-Site`, and no script of another site can change either. What the request
itself came by is the server's to say: it has read `X-Forwarded-Proto` where a proxy of ours wrote it, and nowhere else.
With HTTPS in force nothing else is our origin, whatever the proxy leaves out. Programs without a browser send neither
header, and have no one's session to misuse.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from starlette.datastructures import Headers

from grader.pages.refusal import Refusal

PORTS = {"http": 80, "https": 443}
HOST_AND_PORT = re.compile(r"([a-z0-9._-]{1,253}|\[[0-9a-f:.]{2,45}\])(?::([0-9]{1,5}))?", re.IGNORECASE)
ELSEWHERE = "This request came from another site."
OTHER_SCHEME = (
    "This request came from a page at {sent}:// and was made to {own}://. Please reload the page. If that does not "
    "help, the site stands behind HTTPS without knowing it: whoever runs it has to set ATTENTION_GYM_COOKIE_SECURE=yes."
)


class Origin(NamedTuple):
    """What makes two addresses the same site."""

    scheme: str
    host: str
    port: int


def check_origin(headers: Headers, scheme: str) -> None:
    """Refuse a writing request that another site makes; `scheme` is what it came by.

    Raises:
        Refusal: the browser says that the request comes from elsewhere, or says it in no form that a browser uses.
    """
    if any(site not in ("same-origin", "none") for site in headers.getlist("sec-fetch-site")):
        raise Refusal(403, ELSEWHERE)
    sent = headers.getlist("origin")
    if not sent:
        return
    hosts = headers.getlist("host")
    ours = _origin(scheme, hosts[0]) if len(hosts) == 1 else None
    theirs = read_origin(sent[0]) if len(sent) == 1 else None
    if ours is None or theirs is None or theirs.host != ours.host:
        raise Refusal(403, ELSEWHERE)
    if theirs.scheme != ours.scheme:
        raise Refusal(403, OTHER_SCHEME.format(sent=theirs.scheme, own=ours.scheme))
    if theirs.port != ours.port:
        raise Refusal(403, ELSEWHERE)


def read_origin(text: str) -> Origin | None:
    """Return the origin that a browser names; None for `null`, and for whatever is none."""
    scheme, separator, rest = text.partition("://")
    return _origin(scheme.lower(), rest) if separator and scheme.lower() in PORTS else None


def _origin(scheme: str, host_and_port: str) -> Origin | None:
    match = HOST_AND_PORT.fullmatch(host_and_port)
    if match is None:
        return None
    port = int(match[2]) if match[2] else PORTS.get(scheme, 0)
    return Origin(scheme, match[1].lower(), port) if 0 < port < 65536 else None
