"""Run a script, or lead a path astray, by the name and the content of a file that is loaded into the editor.

Expected: the name is shown as text, the file is read in the browser only, and one too long or not text is refused
Stopped by: parts drawn with textContent; nothing is uploaded
Needs: a browser
"""

from playwright.sync_api import expect

NAME = "<img src=x onerror=alert(1)>..%2f${alert(2)}.py"


def control(world):
    page = world.page(None)
    page.set_content(NAME)
    page.wait_for_timeout(100)
    assert world.alarms
    world.alarms.clear()


def load(page, payload):
    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name="Load a file").click()
    chooser.value.set_files({"name": payload[0], "mimeType": "text/x-python", "buffer": payload[1]})


def attack(world):
    page = world.page("/exercise?ex=softmax")
    expect(page.locator("#editor")).to_have_attribute("data-ready", "yes")
    page.evaluate("gym.write('x = 1')")
    posted = []
    page.on("request", lambda request: posted.append(request.url) if "upload" in request.url else None)
    load(page, (NAME, b"print('</script><script>alert(3)</script>')"))
    expect(page.get_by_role("dialog")).to_contain_text("onerror=alert(1)")
    page.get_by_role("dialog").get_by_role("button", name="Load the file").click()
    page.wait_for_function("gym.source().includes('alert(3)')")
    load(page, ("big.py", b"#" * (300 << 10)))
    expect(page.locator("#editor").get_by_role("status")).to_contain_text("the limit is")
    load(page, (NAME, b"x\x00\xff"))
    expect(page.locator("#editor").get_by_role("status")).to_contain_text(f"{NAME} is binary data")
    assert posted == []
    assert world.alarms == []
