"""A server that cannot be reached: what a page says meanwhile, what it keeps, and what goes on afterwards."""

import pytest
from playwright.sync_api import expect

from tests.pages.test_journeys import EXERCISE, SOLUTION, ready, status, write


def _waiting(page):
    """Return the page with an answer that waits for the server, which says so."""
    write(page, SOLUTION)
    page.context.set_offline(True)
    page.get_by_role("button", name="Run checks").click()
    expect(status(page)).to_contain_text("Your code was not sent; it is kept here")
    return page


@pytest.mark.parametrize("size", [{"width": 1280, "height": 900}, {"width": 390, "height": 844}])
def test_code_goes_out_when_the_server_is_back(travels, person, size: dict[str, int]) -> None:
    """Without a network the page says in view that nothing was sent, also on a phone; with one it sends by itself."""
    travelling = _waiting(travels(person(), viewport=size))
    expect(status(travelling)).to_be_in_viewport(ratio=1)
    travelling.context.set_offline(False)

    expect(travelling.get_by_role("heading", name="Accepted")).to_be_visible()


def test_waiting_for_the_server_can_be_cancelled(travels, person) -> None:
    """Cancel ends the wait and says so, once; nothing is sent later or told after a reload, but the next run is."""
    travelling = _waiting(travels(person()))
    travelling.get_by_role("button", name="Cancel").click()
    expect(status(travelling)).to_contain_text("Your code was not sent. It is still in the editor")
    travelling.context.set_offline(False)
    travelling.wait_for_timeout(3000)
    expect(travelling.locator("#report .gym-report")).to_have_count(0)
    ready(travelling.goto(EXERCISE) and travelling)
    travelling.wait_for_load_state("networkidle")
    expect(status(travelling)).to_contain_text("Run checks: Ctrl Enter")

    travelling.get_by_role("button", name="Run checks").click()
    expect(travelling.get_by_role("heading", name="Accepted")).to_be_visible()


def test_code_that_waited_when_the_page_was_closed_is_told_of(travels, person) -> None:
    """After a reload nothing is sent by itself: the panel says so, until the code has been sent."""
    travelling = _waiting(travels(person()))
    travelling.route("**/gradio_api/run/submit*", lambda route: route.abort())  # still away for what was waiting
    travelling.context.set_offline(False)
    ready(travelling.goto(EXERCISE) and travelling)
    expect(status(travelling)).to_contain_text("the server could not be reached. Press Run checks to send it.")
    write(travelling, SOLUTION + "\n")
    expect(status(travelling)).to_contain_text("Press Run checks to send it.")
    travelling.unroute("**/gradio_api/run/submit*")
    travelling.get_by_role("button", name="Run checks").click()
    expect(travelling.get_by_role("heading", name="Accepted")).to_be_visible()
    ready(travelling.goto(EXERCISE) and travelling)

    expect(status(travelling)).to_contain_text("Below is attempt 1 again.")


@pytest.mark.parametrize("answer", [None, 500, 502, 503, 504])
def test_a_run_says_that_its_server_is_away(travels, person, answer: int | None) -> None:
    """Nobody listens, or a proxy says so: the panel says where the code is, without a clock, and goes on afterwards."""
    travelling = travels(person())
    travelling.route("**/runs/*", lambda route: route.fulfill(status=answer) if answer else route.abort())
    write(travelling, SOLUTION)
    travelling.get_by_role("button", name="Run checks").click()
    expect(status(travelling)).to_contain_text("The server cannot be reached. It has your code")
    expect(status(travelling).locator(".gym-time")).to_be_empty()
    travelling.unroute("**/runs/*")

    expect(travelling.get_by_role("heading", name="Accepted")).to_be_visible()


def test_the_first_try_says_that_the_server_is_away(travels, person) -> None:
    """In the words of every later one; the next one runs."""
    travelling = travels(person())
    write(travelling, SOLUTION)
    travelling.context.set_offline(True)
    travelling.get_by_role("button", name="Try", exact=True).click()
    card = travelling.get_by_role("region", name="Try", exact=True)
    expect(card).to_contain_text("The server cannot be reached. Please try again in a moment.")
    travelling.context.set_offline(False)
    travelling.get_by_role("button", name="Try", exact=True).click()

    expect(card).to_contain_text("As expected on this example")


def test_a_part_that_could_not_be_fetched_comes_later(travels, person) -> None:
    """The place of a microscope says that the server is away, and asks again."""
    travelling = travels(person())
    travelling.route("**/gym/microscope.js*", lambda route: route.abort())
    travelling.goto("/exercise?ex=scaled_dot_product_attention")
    ready(travelling)
    scope = travelling.locator(".gym-scope").first
    scope.scroll_into_view_if_needed()
    expect(scope).to_contain_text("The server cannot be reached. This part comes when it is back.")
    travelling.unroute("**/gym/microscope.js*")

    expect(scope.get_by_role("button").first).to_be_visible()
    expect(scope).not_to_contain_text("cannot be reached")
