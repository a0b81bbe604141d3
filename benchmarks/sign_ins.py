"""What a storm of sign-ins does to those who read their pages: `python -m benchmarks signins`.

Each guest signs in again and again with a wrong password, under new names and from new addresses of this machine, so
that no limit ends it: every try hashes a password. Meanwhile somebody else asks for the leaderboard at fixed times.
"""

from __future__ import annotations

import asyncio
import itertools
import statistics
import tempfile
import time
from collections import Counter
from pathlib import Path
from urllib.parse import urlencode

import typer

from benchmarks.storm_browser import Address, Browser, find_events, timed
from benchmarks.storm_site import served

PROBE_SECONDS = 0.05
LOOKED_AT = 403  # the answer to a wrong password


def sign_ins(guests: int = 40, seconds: float = 15.0) -> None:
    """Let guests sign in without pause; print how many tries are answered, and how long a page event takes."""
    folder = tempfile.TemporaryDirectory(prefix="sign-ins-", ignore_cleanup_errors=True)
    with folder as data, served(Path(data), 1) as site:
        calm, storm, statuses, took = asyncio.run(_rage(site.port, guests, seconds))
    for name, taken in (("before", calm), ("during the storm", storm)):
        ordered = sorted(1000 * one for one in taken)
        p95 = ordered[round(0.95 * (len(ordered) - 1))]
        typer.echo(f"a page event {name}: {statistics.median(ordered):.0f} ms, p95 {p95:.0f}, worst {ordered[-1]:.0f}")
    looked_at = statuses[LOOKED_AT] / took
    typer.echo(
        f"passwords looked at: {looked_at:.1f} a second, {statuses[503]} sent away; a class of 300 takes ", nl=False
    )
    typer.echo(f"{300 / looked_at:.0f} s" if looked_at else "for ever")


async def _rage(port: int, guests: int, seconds: float) -> tuple[list[float], list[float], Counter[int], float]:
    tab = Browser(Address(port, await find_events(port)))
    calm = await _probe(tab, seconds / 2)
    statuses: Counter[int] = Counter()
    storm = [asyncio.create_task(_sign_in(port, guest, statuses)) for guest in range(guests)]
    start = time.perf_counter()
    during = await _probe(tab, seconds)
    took = time.perf_counter() - start
    for one in storm:
        one.cancel()
    await asyncio.gather(*storm, return_exceptions=True)
    return calm, during, statuses, took


async def _probe(tab: Browser, seconds: float) -> list[float]:
    taken, end = [], time.perf_counter() + seconds
    while time.perf_counter() < end:
        taken.append(await timed(tab.get("/leaderboard")))
        await asyncio.sleep(PROBE_SECONDS)
    return taken


async def _sign_in(port: int, guest: int, statuses: Counter[int]) -> None:
    for n in itertools.count():
        here = (f"127.1.{guest % 250}.{n % 250 + 1}", 0)
        reader, writer = await asyncio.open_connection("127.0.0.1", port, local_addr=here)
        body = urlencode({"name": f"nobody {guest} {n}", "password": "a wrong password"}).encode()
        head = "POST /sign-in HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n"
        kind = f"Content-Type: application/x-www-form-urlencoded\r\nContent-Length: {len(body)}\r\n\r\n"
        writer.write((head + kind).encode() + body)
        answer = await reader.read()
        writer.close()
        statuses[int(answer.split(b" ", 2)[1]) if answer else 0] += 1
