"""Keep the server busy with files that no page of ours uses: Gradio brings 55 MB, one of 31 MB and one of 4.6 MB.

Expected: 404
Stopped by: closed list of files
Own: yes
"""

from pathlib import Path

import gradio

from grader.pages.routes import GRADIO_FILES

BUILT = Path(gradio.__file__).parent / "templates" / "frontend"


def control(world):
    async def ask(client):
        plotly = next((BUILT / "assets").glob("PlotlyPlot-*.js"))
        return len((await client.get(f"/assets/{plotly.name}")).content), (await client.get("/static/img/logo.svg")).status_code

    size, status = world.bare(ask)
    assert size > 4_000_000
    assert status == 200


def attack(world):
    listed = set(GRADIO_FILES.read_text(encoding="utf-8").split())
    files = {path.relative_to(BUILT).as_posix(): path.stat().st_size for path in BUILT.rglob("*") if path.is_file()}
    assert listed <= set(files)
    assert max(files[name] for name in listed) < 1 << 19
    assert sum(files[name] for name in listed) < 3 << 20 < 50 << 20 < sum(files.values())
    client = world.client()
    biggest = sorted(set(files) - listed, key=files.__getitem__)[-40:]
    assert {client.get(f"/{name}").status_code for name in biggest} == {404}
    assert client.get(f"/{sorted(listed)[0]}").status_code == 200
