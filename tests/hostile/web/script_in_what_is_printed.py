"""Run a script in a reader's page by what code prints, raises and is called: output, message, type, names of parameters.

Expected: shown as text, in the student's page and in the instructor's
Stopped by: parts drawn with textContent, CSP
Needs: a browser
"""

from playwright.sync_api import expect

EVIL = "<img src=x onerror=alert(1)>${alert(2)}{{alert(3)}}<script>alert(4)</script>"
SOURCE = f'''
class Evil(Exception):
    pass

Evil.__name__ = Evil.__qualname__ = {EVIL!r}
print({EVIL!r}, "</pre></script>", "![x](http://evil.example/x.png) [y](javascript:alert(5))")
print("<svg onload=alert(6)> <iframe srcdoc='<script>parent.alert(7)</script>'> &lt;b&gt;")

def softmax(**{{}}):
    pass

raise Evil({EVIL!r})
'''.replace("**{}", "**evil")


def control(world):
    page = world.page(None)
    page.set_content(f"<p>{EVIL}</p>")
    page.wait_for_timeout(100)
    assert world.alarms
    world.alarms.clear()


def attack(world):
    id = world.graded(world.eve, SOURCE)
    page = world.page("/exercise?ex=softmax", world.eve)
    page.get_by_role("tab", name="My attempts").click()
    page.get_by_role("button", name="Attempt").first.click()
    dialog = page.get_by_role("dialog")
    if dialog.count():
        dialog.get_by_role("button", name="Open this attempt").click()
    expect(page.locator("#report")).to_contain_text("${alert(2)}")
    desk = world.page(f"/teach/?submission={id}", world.prof)
    expect(desk.get_by_label("The submitted code")).to_contain_text("<svg onload=alert(6)>")
    expect(desk.locator("#report")).to_contain_text("onerror=alert(1)")
    for seen in (page, desk):
        assert seen.locator("img[src=x], iframe, svg[onload], a[href^=javascript]").count() == 0
    assert world.alarms == []
