"""Read the server's files: send an event a dictionary that looks to Gradio like a file somebody has uploaded.

Gradio copies what it names into a folder that it serves, and the address of the copy can be guessed or is sent back.

Expected: refused with 400
Stopped by: guard (no dictionary with `path` and `meta`), the launched flag, blocked paths
"""

import gradio as gr
from fastapi import FastAPI

from tests.pages.conftest import in_a_loop

FILE = {"path": "/etc/passwd", "url": None, "meta": {"_type": "gradio.FileData"}}


def naked():
    with gr.Blocks() as blocks:
        box = gr.File()
        box.upload(lambda file: file, box, gr.File(), api_name="echo", queue=False)
    return gr.mount_gradio_app(FastAPI(), blocks, path="/")


def control(world):
    async def read(client):
        told = await client.post("/gradio_api/run/echo", json={"data": [FILE]})
        return (await client.get(told.json()["data"][0]["url"])).text

    async def made():
        return naked()

    assert "root:" in world.bare(read, in_a_loop(made()))


def attack(world):
    client = world.client(world.eve)
    for name, inputs in (("submit", 2), ("cancel", 1)):
        for shape in (FILE, [FILE], {"deep": [[FILE]]}):
            answer = world.event(client, name, *[shape] * inputs)
            assert answer.status == 400
            world.harmless(answer)
