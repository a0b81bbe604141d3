"""Whose request it is, behind any number of proxies and whatever the sender writes into the header themselves."""

from __future__ import annotations

import asyncio
from itertools import product

import pytest
from starlette.types import Receive, Scope, Send

from grader.pages.connections import MOST_NAMED, configured
from grader.pages.requests import client_of
from grader.service.limits import household, plain_address
from grader.settings import LOOPBACK, Settings

CLIENTS = (
    "198.51.100.7",
    "10.1.2.3",
    "172.16.9.9",
    "192.168.0.7",
    "169.254.1.1",
    "100.64.0.9",
    "2001:db8::7",
    "fd00::7",
)
FORGED = (
    "", "203.0.113.9", "127.0.0.1", "10.1.2.3", "::1", "unknown", "<script>", ",,", "203.0.113.9, 10.0.0.7", "[::1]:80",
    "127.0.0.1:1, ::ffff:127.0.0.1", " \t", "0x7f.1", "127.1", "\xff", "1" * 5000, "203.0.113.9;127.0.0.1", '"::1"',
    "for=127.0.0.1",
)  # fmt: skip
PROXIES = ("10.0.0.7", "172.30.0.0/24", *LOOPBACK)
HOPS = {  # by what each is: who connects, and whom the proxies before it have seen, the sender first
    "nobody between": ("", ()),
    "one": ("10.0.0.7", ()),
    "one, in a network": ("172.30.0.9", ()),
    "one on this machine": ("127.0.0.1", ()),
    "one, at a socket for both kinds": ("::ffff:10.0.0.7", ()),
    "two": ("127.0.0.1", ("10.0.0.7",)),
    "three": ("::1", ("172.30.0.4", "10.0.0.7")),
}
SPELLINGS = ("joined", "without spaces", "several headers", "with ports", "in brackets", "as the newer kind")


def written(spelling: str, addresses: list[str]) -> list[str]:
    """Return the headers that hold these addresses, those of the proxies in one of the ways in which proxies write."""
    forged, *added = addresses
    if spelling == "with ports":
        added = [f"[{one}]:4711" if ":" in one else f"{one}:4711" for one in added]
    if spelling == "in brackets":
        added = [f"[{one}]" if ":" in one else one for one in added]
    if spelling == "as the newer kind":
        added = [one if ":" in one else f"::ffff:{one}" for one in added]
    parts = [one for one in (forged, *added) if one]
    if spelling == "several headers":
        return parts
    return [("," if spelling == "without spaces" else ", ").join(parts)] if parts else []


class Seen:
    """The server's view of requests, with some settings."""

    def __init__(self, settings: Settings) -> None:
        async def app(scope: Scope, receive: Receive, send: Send) -> None:
            self._found = client_of(scope)[0]

        self._config = configured(app, settings, 1024)  # type: ignore[arg-type]
        self._config.load()
        self._found = ""

    async def of(self, peer: str, headers: list[str]) -> str:
        """Return whose request the application takes one for."""
        raw = [(b"x-forwarded-for", one.encode("latin-1")) for one in headers]
        await self._config.loaded_app(
            {"type": "http", "client": (peer, 1), "headers": raw, "scheme": "http"}, None, None
        )
        return self._found


@pytest.mark.parametrize("secure", [True, False])
def test_nobody_chooses_their_own_address(secure: bool) -> None:
    """Sender, what they have written, proxies and the way in which those write: it is always the sender."""
    server = Seen(Settings(cookie_secure=secure, proxies=PROXIES))

    async def tried() -> list[tuple[str, ...]]:
        wrong = []
        for client, forged, (name, (peer, before)), spelling in product(CLIENTS, FORGED, HOPS.items(), SPELLINGS):
            added = [client, *before] if peer else []
            found = await server.of(peer or client, written(spelling, [forged, *added]))
            if household(found) != household(client):
                wrong.append((client, forged[:40], name, spelling, found))
        return wrong

    assert asyncio.run(tried()) == []


def test_a_proxy_that_no_setting_names_is_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    """Wherever in the chain it stands and however the others write; nobody is logged where all are named."""
    tried = 0
    for (name, (peer, before)), spelling in product(HOPS.items(), SPELLINGS):
        chain = [*before, *([peer] if peer else [])]
        for unnamed in ("", *(plain_address(one) for one in chain)):
            named = tuple(plain_address(one) for one in chain if plain_address(one) != unnamed)
            server = Seen(Settings(proxies=named or ("192.0.2.1",)))
            caplog.clear()
            for _ in range(2):
                for client in CLIENTS if chain else ():
                    asyncio.run(server.of(peer, written(spelling, ["", client, *before])))
            found = [line for line in caplog.messages if "X-Forwarded-For" in line]
            assert len(found) == bool(unnamed), (name, spelling, unnamed, found)
            assert all(line.startswith(f"{household(unnamed)} sends") for line in found)
            assert all("ATTENTION_GYM_PROXIES" in line for line in found)
            tried += 1
    assert tried > 60


def test_visitors_who_write_the_header_do_not_fill_the_log(caplog: pytest.LogCaptureFixture) -> None:
    """Each may be a proxy, but after some of them nothing more is said."""
    server = Seen(Settings())
    for number in range(MOST_NAMED + 5):
        asyncio.run(server.of(f"198.51.100.{number}", ["203.0.113.9"]))

    assert len(caplog.messages) == MOST_NAMED


def test_without_a_setting_only_this_machine_is_believed() -> None:
    """A neighbour is not: the whole campus may be neighbours."""
    for peer in ("10.0.0.7", "192.168.1.1", "172.17.0.1", "100.64.0.1", "169.254.0.1", "fd00::1", "fe80::1"):
        assert asyncio.run(Seen(Settings(cookie_secure=True)).of(peer, ["203.0.113.9"])) == peer
    for peer in ("127.0.0.1", "::1", "::ffff:127.0.0.1", "127.8.8.8"):
        assert asyncio.run(Seen(Settings()).of(peer, ["203.0.113.9"])) == "203.0.113.9"


def test_an_address_counts_once_however_it_is_written() -> None:
    """One of the older kind within one of the newer kind is itself; the zone of one adds nothing."""
    assert household("::ffff:198.51.100.7") == household("198.51.100.7") == "198.51.100.7"
    assert household("::ffff:198.51.100.8") != household("198.51.100.7")
    assert household("fe80::1%eth0") == household("fe80::1%eth1") == household("fe80::2")
