"""Read a victim's pages from another site's script: origins that are echoed back, with credentials.

Gradio echoes every origin, `null` too, unless the application has rules of its own.

Expected: no origin is allowed anything, in answers or before requests
Stopped by: CORS without origins, Cross-Origin-Resource-Policy
Own: yes
"""

import gradio as gr
from fastapi import FastAPI

from tests.pages.conftest import in_a_loop

ALLOWED = "access-control-allow-origin"


async def naked():
    with gr.Blocks() as blocks:
        gr.Textbox()
    return gr.mount_gradio_app(FastAPI(), blocks, path="/")


def control(world):
    async def ask(client):
        return (await client.get("/config", headers={"Origin": "https://evil.example"})).headers

    assert world.bare(ask, in_a_loop(naked()))[ALLOWED] == "https://evil.example"


def attack(world):
    client = world.client(world.eve)
    for path in ("/", "/config", "/gradio_api/info", "/gym/gym.js", "/sign-in", "/health", "/assets/none.js"):
        for origin in ("https://evil.example", "null", world.site.url + ".evil.example", "http://localhost"):
            answer = client.get(path, headers={"Origin": origin})
            assert ALLOWED not in answer.headers
            assert answer.headers["cross-origin-resource-policy"] == "same-origin"
            asked = {"Origin": origin, "Access-Control-Request-Method": "POST"}
            assert ALLOWED not in client.options(path, headers=asked).headers
