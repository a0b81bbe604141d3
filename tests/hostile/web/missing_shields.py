"""Find an answer without its headers: one that may be framed, guessed at, kept by a cache or run as something else.

Expected: every answer, refusals and mistakes included, carries them
Stopped by: CSP and headers, put on outside of everything else
Own: yes
"""

PATHS = ["/", "/exercise?ex=softmax", "/leaderboard", "/work", "/sign-in", "/register", "/teach/", "/config", "/nothing",
         "/gradio_api/info", "/health", "/robots.txt", "/theme.css", "/teach/export.csv", "/runs/0"]  # fmt: skip


def control(world):
    async def ask(client):
        return (await client.get("/")).headers

    bare = world.bare(ask)
    assert "content-security-policy" not in bare
    assert "x-content-type-options" not in bare


def attack(world):
    client = world.client()
    answers = [client.get(path) for path in PATHS]
    answers += [client.post("/sign-in", data={}), client.post("/nothing"), client.post("/sign-in", data={"name": "x"})]
    for answer in answers:
        headers = answer.headers
        policy = headers["content-security-policy"]
        assert "frame-ancestors 'self'" in policy or "frame-ancestors 'none'" in policy
        assert "'unsafe-inline'" not in policy.split("style-src")[0]
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["cache-control"] == "no-store", answer.url
        assert "server" not in headers or "uvicorn" in headers["server"]
