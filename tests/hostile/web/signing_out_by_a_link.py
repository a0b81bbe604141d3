"""Sign a victim out, or submit for them, by an image or a link: a reading request that changes something.

Expected: 404, 405 or 415, whatever the verb is said to be
Stopped by: only POST changes anything
Own: yes
"""

OVERRIDES = {"X-HTTP-Method-Override": "POST", "X-Method-Override": "POST", "X-HTTP-Method": "POST"}


def control(world):
    who = world.person("Sam Signs")
    assert world.client(who).post("/sign-out").status_code == 303
    assert world.service.user_of(who.token) is None


def attack(world):
    client = world.client(world.eve)
    for path in ("/sign-out", "/gradio_api/run/cancel", "/gradio_api/run/submit"):
        for query in ("", "?_method=POST", "?data=x&fn_index=0"):
            for verb in ("GET", "HEAD", "OPTIONS"):
                assert client.request(verb, path + query, headers=OVERRIDES).status_code in (404, 405), (verb, path)
        for verb in ("PUT", "DELETE", "PATCH", "TRACE", "FOO"):
            answer = client.request(verb, path)
            assert answer.status_code in (404, 405, 415), (verb, path)
            world.harmless(answer)
    assert world.service.user_of(world.eve.token) == world.eve.user
