"""Use a nonce twice: guess the next one from those before, or send a page's own along.

Expected: each page has its own, long and random, and what comes from outside is none
Stopped by: CSP (a fresh nonce for every page)
Own: yes
"""

import re


def nonces(text):
    return set(re.findall(r"nonce-([\w-]+)'", text))


def control(world):
    assert nonces("script-src 'nonce-abc'") == {"abc"}


def attack(world):
    client = world.client()
    seen = set()
    for _ in range(8):
        page = client.get("/sign-in", params={"nonce": "evil", "next": '/"><script nonce="evil">'}, headers={"X-Nonce": "evil"})
        (nonce,) = nonces(page.headers["content-security-policy"])
        assert len(nonce) >= 20
        assert nonce != "evil"
        assert '<script nonce="evil"' not in page.text
        seen.add(nonce)
    assert len(seen) == 8
