"""Read the server's files and neighbours through Gradio's own addresses: files, proxies, streams, components.

Expected: 404, whatever the spelling
Stopped by: route allow-list
"""

DOORS = [
    "/gradio_api/file=/etc/passwd",
    "/file=/etc/passwd",
    "/file=http://169.254.169.254/latest/meta-data",
    "/gradio_api/file=../../app.py",
    "/gradio_api/file/etc/passwd",
    "/gradio_api/proxy=http://169.254.169.254/",
    "/gradio_api/proxy=https://huggingface.co/spaces",
    "/gradio_api/stream/a/b/c/playlist.m3u8",
    "/gradio_api/custom_component/a/client/b/c",
    "/gradio_api/component_server",
    "/gradio_api/deep_link",
    "/gradio_api/dev/reload",
    "/gradio_api/token",
    "/gradio_api/vibe-code",
    "/gradio_api/profiling/traces",
    "/svelte/svelte.js",
    "/pwa_icon/../../x",
]


def control(world):
    async def ask(client):
        return (await client.get("/gradio_api/file=/etc/passwd")).status_code, (await client.get("/pwa_icon")).status_code

    # Without the allow-list it is Gradio that has to say no, and to some it says yes.
    assert world.bare(ask) != (404, 404)


def attack(world):
    client = world.client(world.eve)
    for path in DOORS:
        for prefix in ("", "/teach"):
            answers = [client.get(prefix + path), client.post(prefix + path, json={})]
            assert {answer.status_code for answer in answers} <= {401, 404}, path
            world.harmless(*answers)
