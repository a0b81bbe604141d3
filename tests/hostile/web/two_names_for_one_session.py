"""Name two sessions in one request, one's own for the guard and another's for Gradio, which may read the other one.

Expected: 404: both read the last one, and an encoded name like a plain one
Stopped by: guard (reads the query as Gradio does)
Own: yes
"""

from starlette.datastructures import QueryParams


def control(world):
    assert QueryParams("session_hash=mine&session_hash=adas")["session_hash"] == "adas"


def attack(world):
    ada, eve = world.client(world.ada), world.client(world.eve)
    for client, session in ((ada, "adas-other-tab"), (eve, "eves-tab")):
        sent = client.post("/gradio_api/call/work", json={"data": [], "session_hash": session})
        assert sent.status_code == 200
    for query in (
        "session_hash=eves-tab&session_hash=adas-other-tab",
        "session_hash=eves-tab&session%5fhash=adas-other-tab",
        "session_hash=eves-tab&%73ession_hash=%61das-other-tab",
        "session_hash=eves-tab;session_hash=adas-other-tab",
        "session_hash[]=eves-tab&session_hash=adas-other-tab",
    ):
        answer = eve.get(f"/gradio_api/queue/data?{query}")
        assert answer.status_code == 404, query
    body = b'{"data": [], "session_hash": "eves-tab", "session_hash": "adas-other-tab"}'
    sent = eve.post("/gradio_api/call/work", content=body, headers={"Content-Type": "application/json"})
    assert sent.status_code == 403
    for client, session in ((ada, "adas-other-tab"), (eve, "eves-tab")):
        client.get(f"/gradio_api/queue/data?session_hash={session}")
