"""Take the session out of the browser: by a script, over plain HTTP, from a neighbouring host, from another site.

Expected: HttpOnly, SameSite, and behind HTTPS Secure and tied to this very host
Stopped by: session (flags of the cookie)
Own: yes
"""

from fastapi.responses import Response

from tests.pages.conftest import PASSWORD


def control(world):
    careless = Response()
    careless.set_cookie("session", "x")
    assert "HttpOnly" not in careless.headers["set-cookie"]


def attack(world):
    form = {"name": "Eve Wicked", "password": PASSWORD}
    plain = world.client().post("/sign-in", data=form).headers.get_list("set-cookie")

    async def ask(client):
        return (await client.post("/sign-in", data=form)).headers.get_list("set-cookie")

    strict = world.bare(ask, world.strict)
    assert len(plain) == len(strict) == 2
    for cookie in plain + strict:
        assert "HttpOnly" in cookie
        assert "SameSite=lax" in cookie
        assert "Domain" not in cookie
    for cookie in strict:
        assert cookie.startswith("__Host-")
        assert "Secure" in cookie
        assert "Path=/" in cookie
