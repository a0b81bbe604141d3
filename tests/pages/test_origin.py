"""A writing request comes from the page's own scheme, host and port, or it is refused."""

from __future__ import annotations

from itertools import product

import pytest
from starlette.datastructures import Headers

from grader.pages.plain import Refusal
from grader.pages.requests import PORTS, check_origin

HOSTS = ("gym.example", "evil.example", "gym.example.evil.example", "gym.example.", "127.0.0.1", "[::1]")
NUMBERS = (80, 443, 81, 7860)
SITES = list(product(PORTS, HOSTS, NUMBERS))
Site = tuple[str, str, int]


def spellings(site: Site) -> list[tuple[str, str]]:
    """Return the ways to write a site, each as its scheme and its host with the port."""
    scheme, host, port = site
    names = [f"{host}:{port}", f"{host.upper()}:{port}"]
    return [(scheme, name) for name in ([*names, host] if port == PORTS[scheme] else names)]


def passes(scheme: str, *headers: tuple[str, str]) -> bool:
    """Return whether a request that came by `scheme` with these headers may write."""
    try:
        check_origin(Headers(raw=[(name.encode(), value.encode("latin-1")) for name, value in headers]), scheme)
    except Refusal as refusal:
        return refusal.status != 403
    return True


@pytest.mark.parametrize("own", SITES, ids=str)
def test_only_the_same_scheme_host_and_port_may_write(own: Site) -> None:
    """Every site against every other one, in every spelling that means the same."""
    wrong = [
        (ours, theirs)
        for other in SITES
        for ours, theirs in product(spellings(own), spellings(other))
        if passes(ours[0], ("host", ours[1]), ("origin", "://".join(theirs))) is not (own == other)
    ]

    assert wrong == []


NO_ORIGINS = (
    "", "null", "NULL", "gym.example", "//gym.example", "https:gym.example", "https://", "https:///", "https://gym.example/",
    "https://gym.example/page", "https://gym.example?x", "https://gym.example#x", "https://me@gym.example",
    "https://me:word@gym.example", "https://gym.example:", "https://gym.example:0", "https://gym.example:65979",
    "https://gym.example:443 ", " https://gym.example", "https://gym.example, https://gym.example", "https://gym.example\t",
    "https://gym\xb7example", "ftp://gym.example", "file://", "data:", "blob:https://gym.example", "https://https://gym.example",
    "chrome-extension://gym.example", "https://gym.example:4\xb23", "https://gym%2eexample", "https://[gym.example]",
)  # fmt: skip


@pytest.mark.parametrize("origin", NO_ORIGINS)
def test_what_is_no_origin_of_ours_is_refused(origin: str) -> None:
    """`null`, addresses with more than an origin has, and other schemes."""
    assert passes("https", ("host", "gym.example"), ("origin", "https://gym.example"))
    assert not passes("https", ("host", "gym.example"), ("origin", origin))


@pytest.mark.parametrize("origin", [None, "https://gym.example", "https://evil.example"])
@pytest.mark.parametrize(
    "site", [None, "same-origin", "none", "same-site", "cross-site", "", "Same-Origin", "same-origin,x"]
)
def test_either_header_can_refuse(origin: str | None, site: str | None) -> None:
    """What one of them says is not taken back by the other; a program without a browser sends neither."""
    headers = [("host", "gym.example")]
    headers += [] if origin is None else [("origin", origin)]
    headers += [] if site is None else [("sec-fetch-site", site)]
    fine = origin in (None, "https://gym.example") and site in (None, "same-origin", "none")

    assert passes("https", *headers) is fine


@pytest.mark.parametrize(
    "headers",
    [
        [("origin", "https://gym.example")],
        [("host", "gym.example"), ("host", "gym.example"), ("origin", "https://gym.example")],
        [("host", "gym.example"), ("origin", "https://gym.example"), ("origin", "https://evil.example")],
        [("host", "gym.example"), ("origin", "https://gym.example"), ("origin", "https://gym.example")],
        [("host", "gym.example"), ("sec-fetch-site", "same-origin"), ("sec-fetch-site", "cross-site")],
        [("host", ""), ("origin", "https://")],
    ],
)
def test_a_header_twice_or_missing_is_no_way_round(headers: list[tuple[str, str]]) -> None:
    """Two readers might look at different ones."""
    assert not passes("https", *headers)


def test_a_page_at_the_other_scheme_is_told_what_to_do() -> None:
    """Somebody honest sees this where a proxy speaks HTTPS and the settings do not say so."""
    with pytest.raises(Refusal, match=r"a page at https:// and was made to http://.*ATTENTION_GYM_COOKIE_SECURE=yes"):
        check_origin(Headers({"host": "gym.example", "origin": "https://gym.example"}), "http")
