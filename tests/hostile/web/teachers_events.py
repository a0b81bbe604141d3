"""Reach the instructors' part as a student or a guest: every address, form and spelling below /teach.

Expected: 401, or the sign-in form; 404 where there is nothing
Stopped by: a check in each handler, and one more in the service
"""

PAGES = ["/teach", "/teach/", "/teach/?student=1", "/teach/?submission=1", "/teach/?list=all", "/teach/class", "/teach/member?person=1"]
FORMS = ["/teach/reset", "/teach/class", "/teach/member"]
OTHER = ["/Teach/class", "/teach;a/class", "/teach%2fclass", "/%74each/export.csv", "/teach/./class", "/teach//class", "/TEACH/",
         "/teach/../teach/class", "/x/../teach/class", "/teach\\class", "/teach/class/", "/teach/config", "/teach/theme.css",
         "/teach/gradio_api/info", "/teach/gradio_api/user", "/teach/assets/a.js", "/teach/manifest.json"]  # fmt: skip


def control(world):
    prof = world.client(world.prof)
    assert prof.get("/teach/export.csv").status_code == 200
    assert "Eve Wicked" in prof.get("/teach/").text


def attack(world):
    for client in (world.client(), world.client(world.eve)):
        for path in PAGES:
            answer = client.get(path)
            assert answer.status_code == 303, path
            assert "Ada" not in answer.text
        assert client.get("/teach/export.csv").status_code == 401
        for path in FORMS:
            assert client.post(path, data={"student": "1", "person": "1", "act": "remove", "sure": "yes"}).status_code == 401, path
        for path in OTHER:
            answer = client.get(path)
            assert answer.status_code in (303, 401, 404), path
            assert "Ada" not in answer.text
        assert client.post("/teach/gradio_api/run/open", json={"data": [], "session_hash": "s"}).status_code == 404
        assert client.get("/export.csv").status_code == 404

    async def ask(client):
        cookies = {"Cookie": f"attention_gym={world.eve.token}"}
        return [(await client.get(path, headers=cookies)).status_code for path in ("/teach/", "/teach/export.csv")]

    assert 200 not in world.bare(ask)  # even without anything in front
