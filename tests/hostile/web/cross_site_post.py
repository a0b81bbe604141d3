"""Let a victim's browser write to us from another site: sign out, sign in as the attacker, submit, cancel.

Expected: 403; 415 for events that a plain form can send
Stopped by: guard (Origin, Sec-Fetch-Site, content type), SameSite cookies
Own: yes
"""

PATHS = ["/sign-out", "/sign-in", "/register", "/gradio_api/run/submit", "/gradio_api/run/cancel"]
ELSEWHERE = [
    {"Origin": "https://evil.example"}, {"Origin": "null"}, {"Sec-Fetch-Site": "cross-site"},
    {"Sec-Fetch-Site": "same-site"}, {"Origin": "https://127.0.0.1.evil.example"}, {"Origin": "http://127.0.0.1:1"},
    {"Origin": ""}, {"Origin": "file://"}, {"Sec-Fetch-Site": ""},
]  # fmt: skip


def control(world):
    own = {"Origin": world.site.url, "Sec-Fetch-Site": "same-origin"}
    answer = world.client(world.eve).post("/gradio_api/run/open", json={"data": [], "session_hash": "s"}, headers=own)
    assert answer.status_code == 200


def attack(world):
    client = world.client(world.eve)
    for path in PATHS:
        for headers in ELSEWHERE:
            assert client.post(path, data={"name": "x", "password": "y"}, headers=headers).status_code == 403, headers
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"):
        headers = {"Content-Type": kind}
        body = b'{"data": ["softmax", "x"], "session_hash": "s"}'
        answer = client.post("/gradio_api/run/submit", content=body, headers=headers)
        assert answer.status_code == 415
    assert world.service.user_of(world.eve.token) == world.eve.user
