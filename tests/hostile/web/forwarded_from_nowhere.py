"""Have pages built for another host by headers that only a proxy should send; Gradio believes them from anybody.

Expected: they are not in any answer
Stopped by: guard (drops them)
Own: yes
"""

EVIL = {
    "X-Forwarded-Host": 'evil.example"><script>alert(9)</script>', "X-Forwarded-Proto": "https",
    "X-Gradio-Server": "http://evil.example", "X-Forwarded-Prefix": "/evil.example", "Forwarded": "host=evil.example",
    "X-Original-Host": "evil.example", "X-Host": "evil.example", "X-Forwarded-Server": "evil.example",
}  # fmt: skip


def control(world):
    async def ask(client):
        return (await client.get("/config", headers=EVIL)).text

    assert "evil.example" in world.bare(ask)


def attack(world):
    client = world.client(world.eve)
    for path in ("/", "/config", "/exercise?ex=softmax", "/gradio_api/info", "/sign-in"):
        answer = client.get(path, headers=EVIL)
        assert answer.status_code == 200
        assert "evil.example" not in answer.text
        assert "evil" not in str(answer.headers)
        assert "evil.example" not in client.get(path).text  # nor kept for the next one
