"""Take all connections: follow one slow run a thousand times; each stream holds one as long as the run lasts.

Expected: refused in words from the ninth on; others open their pages as ever
Stopped by: rate limit (runs followed at once by one person)
Own: yes
"""

import threading

from grader.pages.request_limits import MOST_WATCHED

SLOW = "import time\ntime.sleep(12)\n"


def control(world):
    id = world.service.submit(world.eve.user, "softmax", SLOW)
    world.service.cancel(world.eve.user, id)
    assert "Cancelled" in world.follow(world.client(world.eve), id).text


def attack(world):
    id = world.service.submit(world.eve.user, "softmax", SLOW)
    told = []
    clients = [world.client(world.eve) for _ in range(MOST_WATCHED + 4)]
    threads = [threading.Thread(target=lambda c=c: told.append(world.follow(c, id).text)) for c in clients]
    for thread in threads:
        thread.start()
    for thread in threads[:4]:  # whoever is refused is done at once
        assert "softmax" in world.event(world.client(world.ada), "open", query="ex=softmax").text
    while sum("too many places" in text for text in told) < 4:
        assert any(thread.is_alive() for thread in threads)
        threads[-1].join(0.05)
    world.service.cancel(world.eve.user, id)
    for thread in threads:
        thread.join(20)
    assert sum("too many places" in text for text in told) == 4
