"""Learn what the service is made of: monitoring, documentation of the interface, other routes of Gradio and FastAPI.

Expected: 404
Stopped by: route allow-list
"""

DOORS = [
    "/monitoring",
    "/monitoring/summary",
    "/docs",
    "/redoc",
    "/openapi.json",
    "/gradio_api/openapi.json",
    "/gradio_api/runs",
    "/gradio_api/run-history/records",
    "/gradio_api/mcp/sse",
    "/metrics",
    "/.env",
    "/.git/config",
    "/app.py",
    "/gradio_api/api/submit",
    "/gradio_api/call/submit",
    "/gradio_api/call/v2/submit",
    "/gradio_api/queue/status",
    "/login",
    "/logout",
    "/debug",
    "/server-status",
]


def control(world):
    async def ask(client):
        return (await client.get("/gradio_api/openapi.json")).status_code

    assert world.bare(ask) == 200


def attack(world):
    for client in (world.client(), world.client(world.eve)):
        for path in DOORS:
            answers = [client.get(path), client.post(path, json={"data": []})]
            assert {answer.status_code for answer in answers} == {404}, path
            world.harmless(*answers)
