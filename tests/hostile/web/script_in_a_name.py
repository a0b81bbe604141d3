"""Run a script in everybody's page by a name on the board: markup, templates of Gradio's, pieces of JavaScript.

Gradio fills its templates and then runs the result as JavaScript, so even an escaped `${...}` would be obeyed.

Expected: shown as text on the board, in the header, in the gradebook and in its list of a student's work
Stopped by: templates that escape, parts drawn with textContent from JSON, CSP
Needs: a browser
"""

from playwright.sync_api import expect

from tests.pages.arena import HONEST

NAMES = ["Eva <img src=x onerror=alert(1)>", "Mal ${alert(2)}{{7*7}}`", "Tim </script><script>alert(3)", "Ned \\u003cb\\u003e&lt;i&gt;"]


def control(world):
    page = world.page(None)
    page.set_content(NAMES[0])
    page.wait_for_timeout(100)
    assert world.alarms
    world.alarms.clear()


def attack(world):
    people = [world.person(name) for name in NAMES]
    for one in people:
        world.service.boards.choose(one.user, "name")
        world.graded(one, HONEST)
    board = world.page("/leaderboard?ex=softmax", people[1])
    for name in NAMES:
        expect(board.get_by_role("table")).to_contain_text(name)
    expect(board.locator(".gym-header")).to_contain_text(NAMES[1])
    book = world.page("/teach/", world.prof)
    for name in NAMES:
        expect(book.get_by_role("table").first).to_contain_text(name)
    work = world.page(f"/teach/?student={people[0].user.id}", world.prof)
    expect(work.get_by_role("heading", level=1)).to_contain_text(NAMES[0])
    for page in (board, book, work):
        assert page.locator("img[src=x]").count() == 0
    assert world.alarms == []
