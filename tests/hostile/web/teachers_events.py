"""Reach the instructors' part as a student or a guest: every address, event and spelling below /teach.

Expected: 401, or the sign-in form; 404 where there is nothing
Stopped by: doorway, route dependency, a check in each handler
"""

PATHS = [
    "/teach/config", "/teach/gradio_api/info", "/teach/export.csv", "/teach/gradio_api/app_id",
    "/teach/theme.css", "/teach/static/js/iframeResizer.contentWindow.min.js", "/teach/?student=1", "/teach/?submission=1",
]  # fmt: skip
OTHER = ["/Teach/config", "/teach;a/config", "/teach%2fconfig", "/%74each/config", "/teach/./config", "/teach//config",
         "/TEACH/", "/teach/../teach/config", "/x/../teach/config", "/teach\\config", "/teach/config/",
         "/teach/gradio_api/user", "/teach/gradio_api/startup-events", "/teach/gradio_api/login_check", "/teach/assets/a.js",
         "/teach/manifest.json"]  # fmt: skip


def control(world):
    prof = world.client(world.prof)
    assert prof.get("/teach/export.csv").status_code == 200
    assert "Eve Wicked" in world.event(prof, "open", mount="/teach").text


def attack(world):
    for client in (world.client(), world.client(world.eve)):
        for path in PATHS:
            answer = client.get(path)
            assert answer.status_code in (401, 303), path
            assert "Ada" not in answer.text
        for path in OTHER:
            answer = client.get(path)
            assert answer.status_code in (401, 404), path
        answer = world.event(client, "open", mount="/teach", query="student=1")
        assert answer.status == 401
        assert client.get("/export.csv").status_code == 404
        assert "Gradebook" not in world.event(client, "exercises").text
    async def ask(client):
        cookies = {"Cookie": f"attention_gym={world.eve.token}"}
        sent = await client.post("/teach/gradio_api/run/open", json={"data": [], "session_hash": "s"}, headers=cookies)
        return sent.status_code

    assert world.bare(ask) == 401  # even without the doorway
