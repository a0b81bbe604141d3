"""Put our page under another one's buttons: a click there is a click here.

Expected: the frame stays empty
Stopped by: CSP (frame-ancestors)
Own: yes
Needs: a browser
"""


def framed(world, who, inside):
    page = world.page(None, who)
    page.route("http://attacker.test/**", lambda route: route.fulfill(
        content_type="text/html", body=f'<iframe id="f" src="{inside}"></iframe>'))
    page.goto("http://attacker.test/")
    page.wait_for_timeout(300)
    return page.frames[-1]


def control(world):
    page = world.page(None)
    page.set_content('<iframe srcdoc="<p>inside</p>"></iframe>')
    assert page.frames[-1].content().count("inside")
    world.alarms.clear()


def attack(world):
    for path in ("/", "/sign-in", "/exercise?ex=softmax"):
        frame = framed(world, world.eve, world.site.url + path)
        assert "Attention Gym" not in frame.content(), path
    world.alarms.clear()
