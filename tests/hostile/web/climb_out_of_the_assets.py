"""Read our sources through the address of our scripts: dots, escapes, double escapes, backslashes, zeros.

Expected: 404
Stopped by: route allow-list, the static route's own check
"""

from grader.pages.answers import ASSETS

WAYS = [
    b"/gym/../exercise.py",
    b"/gym/..%2fexercise.py",
    b"/gym/%2e%2e/exercise.py",
    b"/gym/%2e%2e%2fexercise.py",
    b"/gym/%252e%252e%252fexercise.py",
    b"/gym/..\\exercise.py",
    b"/gym/..%5cexercise.py",
    b"/gym//etc/passwd",
    b"/gym/%2fetc/passwd",
    b"/gym/gym.js%00.py",
    b"/gym/....//exercise.py",
    b"/gym/%c0%ae%c0%ae/exercise.py",
    b"/assets/../../../../routes.py",
    b"/assets/%2e%2e/%2e%2e/%2e%2e/%2e%2e/routes.py",
    b"/static/..%2f..%2f..%2froutes.py",
    b"http://127.0.0.1/gym/../exercise.py",
]


def control(world):
    assert b"def part(" in (ASSETS / "../exercise.py").read_bytes()  # what a join of the two would open


def attack(world):
    for way in WAYS:
        answer = world.raw(b"GET " + way + b" HTTP/1.1\r\nHost: gym.example\r\nConnection: close\r\n\r\n")
        assert answer.split(b" ", 2)[1] in (b"404", b"400"), way
        assert b"def part(" not in answer
        assert b"root:" not in answer
