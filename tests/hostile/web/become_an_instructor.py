"""Become an instructor: send a role along when registering, name other users in events, claim it in headers.

Expected: a student, who is refused below /teach
Stopped by: the service (roles are given by instructors and on the command line), a check in each handler
"""

from tests.pages.conftest import CODE, PASSWORD

CLAIMS = {"X-User": "Prof Watchful", "X-Forwarded-User": "Prof Watchful", "Remote-User": "1", "X-Role": "instructor",
          "Authorization": "Bearer instructor", "X-Original-URL": "/teach/", "X-Rewrite-URL": "/teach/export.csv"}  # fmt: skip


def control(world):
    assert world.client(world.prof).get("/teach/export.csv").status_code == 200


def attack(world):
    more = {"role": "instructor", "is_admin": "1", "user_id": "1", "user[role]": "instructor", "role_id": "1"}
    client = world.client()
    form = {"name": "Max Mass", "password": PASSWORD, "class_code": CODE, **more}
    assert client.post("/register?role=instructor", data=form).status_code == 303
    assert client.get("/teach/export.csv").status_code == 401
    me = world.service.user_of(client.cookies["attention_gym"])
    assert me.role.value == "student"
    sent = {"data": [], "session_hash": "max", "username": "instructor 1", "user": 1, "request": {"cookies": {"attention_gym": world.prof.token}}}
    for act in ("instructor", "student", "remove"):
        form = {"person": str(me.id), "act": act, "sure": "yes"}
        assert client.post("/teach/member", data=form, headers=CLAIMS).status_code == 401
    assert client.post("/teach/class", data={"sure": "yes"}, headers=CLAIMS).status_code == 401
    assert world.service.user_of(client.cookies["attention_gym"]).role.value == "student"
    for headers in ({}, CLAIMS):
        assert client.get("/teach/export.csv", headers=headers).status_code == 401
        assert client.get("/teach/", headers=headers).status_code == 303
        told = client.post("/gradio_api/run/open", json=sent, headers=headers)
        assert told.status_code == 200
        assert "Gradebook" not in told.text
