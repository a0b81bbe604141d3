"""Upload an SVG or a page, and lead others to it: it would run under our name.

Expected: 404, nothing is taken and nothing served back
Stopped by: route allow-list
"""

SVG = b"<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'/>"


def control(world):
    async def upload(client):
        return (await client.post("/gradio_api/upload", files={"files": ("a.svg", SVG, "image/svg+xml")})).status_code

    assert world.bare(upload) == 413  # Gradio's own last word: at most one byte; without that it takes it


def attack(world):
    client = world.client(world.eve)
    for name in ("a.svg", "a.html", "../../a.py", "a\r\nb.svg"):
        for path in ("/gradio_api/upload", "/upload", "/teach/gradio_api/upload", "/gradio_api/process_recording"):
            answer = client.post(path, files={"files": (name, SVG, "image/svg+xml")})
            assert answer.status_code in (401, 404), (path, answer.status_code)
            world.harmless(answer)
