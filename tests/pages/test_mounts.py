"""The mounted application as an attacker meets it: no files, no foreign rows, no unguarded event."""

import codecs
import csv
import json

import httpx
import pytest

from grader.settings import Settings
from grader.store.records import Role
from tests.pages.conftest import in_a_loop, made

FILE = {"path": "/etc/passwd", "url": None, "meta": {"_type": "gradio.FileData"}}


def event(client, name, data):
    """Send an event and return the status, or the values that it comes to."""
    answer = client.post(f"/gradio_api/run/{name}", json={"data": data, "session_hash": "abc"})
    return answer.json()["data"] if answer.status_code == 200 else answer.status_code


def test_the_mounted_application_reads_no_file_even_without_the_guard(site):
    """Gradio itself refuses a path that nobody uploaded, since it knows that it has been launched."""

    async def attack() -> httpx.Response:
        # The router is the application without the middleware in front of it.
        transport = httpx.ASGITransport(app=site.app.router)
        async with httpx.AsyncClient(transport=transport, base_url="http://gym.example") as client:
            return await client.post("/gradio_api/run/cancel", json={"data": [FILE], "session_hash": "abc"})

    answer = in_a_loop(attack())

    assert answer.status_code == 500
    assert "passwd" not in answer.text


def test_instructors_get_the_export(visitor, person, site):
    """The gradebook comes as a CSV file: with the mark by which Excel knows UTF-8, and an id that outlives a name."""
    student = person("Zo\u00eb Before")
    with visitor(person(role=Role.INSTRUCTOR)) as instructor:
        before = instructor.get("/teach/export.csv")
        site.service.accounts.rename(student.user.id, "Zo\u00eb After")
        after = instructor.get("/teach/export.csv")
    ids = [
        {row["student"]: row["student_id"] for row in csv.DictReader(answer.content.decode("utf-8-sig").splitlines())}
        for answer in (before, after)
    ]

    assert before.headers["content-type"].startswith("text/csv")
    assert before.content.startswith(codecs.BOM_UTF8)
    assert before.content.count(codecs.BOM_UTF8) == 1
    assert ids[0]["Zo\u00eb Before"] == ids[1]["Zo\u00eb After"] == str(student.user.id)


def test_a_guest_cannot_submit(visitor):
    """The event answers a guest with the request to sign in, and stores nothing."""
    with visitor() as guest:
        submission, panel = event(guest, "submit", ["causal_attention", "import torch"])

    assert submission == ""
    assert "Sign in to run the checks" in panel


@pytest.mark.parametrize("data", [[None, None], ["no_such", "x"]])
def test_wrong_names_are_answered_calmly(visitor, person, data):
    """An event about an exercise that is none is refused in words."""
    with visitor(person()) as client:
        _, panel = event(client, "submit", data)

    assert json.loads(panel)["phase"] == "refused"


@pytest.mark.parametrize(("host", "status"), [("gym.example.org", 200), ("a.school.edu", 200), ("evil.example", 400)])
def test_only_the_allowed_names_are_answered(site, host, status):
    """With names given in the settings, a request under another one goes no further."""
    settings = Settings(allowed_hosts=("gym.example.org", "*.school.edu"))

    async def ask() -> int:
        transport = httpx.ASGITransport(app=await made(site.service, settings))
        async with httpx.AsyncClient(transport=transport, base_url=f"http://{host}") as client:
            return (await client.get("/health")).status_code

    assert in_a_loop(ask()) == status


def test_the_gradebook_is_found_without_its_last_slash(person, visitor):
    """An instructor who leaves the slash out gets the page, and anybody else the sign-in form."""
    with visitor(person(role=Role.INSTRUCTOR)) as client:
        answer = client.get("/teach")
        assert (answer.status_code, answer.headers["location"]) == (307, "/teach/")
        assert client.get(answer.headers["location"]).status_code == 200
    with visitor() as client:
        assert client.get("/teach").headers["location"] == "/sign-in?next=/teach/"
