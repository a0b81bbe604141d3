"""Push other people's lines out of the screen of a phone: words without end, towers of accents, right-to-left, emoji.

Expected: every page stays as wide as the screen, and the lines stay in their order
Stopped by: cleaning, layout
Own: yes
Needs: a browser
"""

from playwright.sync_api import expect

from tests.pages.arena import HONEST

PHONE = {"viewport": {"width": 390, "height": 844}}
WORD = "W" * 38 + "\u0645"
SOURCE = f"print('W' * 5000)\nprint('\u202e' + 'a' * 300 + '\u0301' * 500)\nraise ValueError('\U0001f9e8' * 200 + 'x' * 900)\n"
NAMES = ["W" * 40, "\u0645\u0631\u064a\u0645 \u0645\u0631\u064a\u0645 \u0645\u0631\u064a\u0645 \u0645\u0631\u064a\u0645", "Zoe \U0001f469\U0001f3fd \U0001f9e8\U0001f9e8\U0001f9e8\U0001f9e8", "\ufdfa"[:0] + "\u674e" * 40]


def control(world):
    page = world.page(None, **PHONE)
    page.set_content(f"<p>{'W' * 500}</p>")
    assert page.evaluate("document.documentElement.scrollWidth") > 390


def attack(world):
    people = [world.person(name) for name in NAMES]
    for one in people:
        world.service.boards.choose(one.user, "name")
        world.graded(one, HONEST)
    world.graded(people[0], SOURCE)
    board = world.page("/leaderboard?ex=softmax", people[0], **PHONE)
    expect(board.get_by_role("table")).to_contain_text(NAMES[1])
    work = world.page("/work", people[1], **PHONE)
    expect(work.get_by_role("heading", name="My work")).to_be_visible()
    id = world.service.attempts(people[0].user)[0].id
    desk = world.page(f"/teach/?submission={id}", world.prof, **PHONE)
    expect(desk.locator("#report")).to_contain_text("WWWW")
    for page in (board, work, desk):
        assert page.evaluate("document.documentElement.scrollWidth") == 390, page.url
    assert world.alarms == []
