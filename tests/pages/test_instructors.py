"""What an instructor sees and does: an attempt with its report, the class, its code and its members."""

import re

import pytest
from playwright.sync_api import Page, expect

from grader.store.records import Role
from tests.pages.test_journeys import LATE_MASK

BOX = "(node) => (({left, top, right, bottom}) => ({left, top, right, bottom}))(node.getBoundingClientRect())"


@pytest.fixture
def read(open_page, person, handed_in) -> Page:
    """Give the page of an attempt whose mask starts too late, as an instructor reads it."""
    id = handed_in(person(), LATE_MASK)
    desk = open_page(f"/teach/?submission={id}", person(role=Role.INSTRUCTOR), viewport={"width": 1280, "height": 844})
    expect(desk.get_by_role("heading", name="Not accepted yet")).to_be_visible()
    return desk


def test_code_stands_beside_its_report(read):
    """In two columns where there is room for them, else the code above the report; nothing is wider than the page."""
    for width, beside in ((1280, True), (1000, True), (999, False), (390, False)):
        read.set_viewport_size({"width": width, "height": 844})
        code, report = (read.locator(place).evaluate(BOX) for place in (".gym-source", "#report .gym-report"))

        if beside:
            assert code["right"] < report["left"]
            assert abs(code["top"] - report["top"]) < 3
        else:
            assert code["bottom"] < report["top"]
            assert abs(code["left"] - report["left"]) < 3
        assert read.evaluate("document.documentElement.scrollWidth") == width


def test_code_that_is_read_has_colours_and_a_note_at_the_line_of_the_mistake(read):
    """Words of Python have their colours; the line that the report names says why, and is found from the report."""
    # The title of a mistake is a sentence elsewhere; here it has no full stop.
    expect(read.locator(".gym-title .gym-sub").first).to_contain_text("starts one position too late, just now")
    lines = read.get_by_label("The submitted code").get_by_role("listitem")
    expect(lines.first.locator(".tok-keyword")).to_have_text("import")
    expect(lines).to_have_count(len(LATE_MASK.splitlines()))
    noted = read.locator(".gym-noted")
    expect(noted).to_have_count(1)
    expect(noted).to_contain_text("scores.masked_fill")
    expect(noted).to_contain_text("Your mask starts one position too late")
    read.get_by_role("button", name="line 17").first.click()
    expect(read.locator(".gym-here")).to_have_attribute("id", "line-17")


HOSTILE = "'''</code><img src=x onerror=alert(1)>${alert(2)}'''\n# \u202e<script>alert(3)</script>\nraise ValueError\n"


def test_hostile_code_is_shown_to_an_instructor_and_not_obeyed(open_page, person, handed_in):
    """Markup in code stays text, in colours too; what turns the line around is shown as a mark."""
    id = handed_in(person(), HOSTILE)
    desk = open_page(f"/teach/?submission={id}", person(role=Role.INSTRUCTOR))

    expect(desk.locator("#line-1 .tok-string")).to_contain_text("<img src=x onerror=alert(1)>")
    expect(desk.locator("#line-2")).to_contain_text("\ufffd<script>alert(3)</script>")
    assert desk.locator("img[src=x]").count() == 0


def test_a_member_is_made_an_instructor_and_a_student_again(open_page, person, site):
    """From the list of members to the person; each change says what it means, and is confirmed."""
    who, teacher = person("Hedy Lamarr"), person(role=Role.INSTRUCTOR)
    desk = open_page("/teach/class", teacher)
    desk.get_by_role("link", name="Hedy Lamarr").click()
    expect(desk).to_have_title("Hedy Lamarr: role and membership · Attention Gym")
    for button, sure, role in (
        ("Make an instructor", "Yes, make Hedy Lamarr an instructor", Role.INSTRUCTOR),
        ("Make a student", "Yes, make Hedy Lamarr a student again", Role.STUDENT),
    ):
        form = desk.locator("form").filter(has=desk.get_by_role("button", name=button))
        form.get_by_label(sure).check()
        form.get_by_role("button").click()
        expect(desk.get_by_role("status")).to_contain_text("Hedy Lamarr is a")
        assert site.service.user_of(who.token).role is role


def test_nothing_of_the_class_changes_unconfirmed_or_for_another_site(visitor, person, site):
    """Without the tick, with an act that is none, about nobody, or from elsewhere."""
    who, teacher = person("Sophie Germain"), person(role=Role.INSTRUCTOR)
    id, evil = str(who.user.id), {"Origin": "https://evil.example"}
    before = site.service.class_code
    with visitor(teacher) as client:
        statuses = [
            client.post("/teach/class").status_code,
            client.post("/teach/member", data={"person": id, "act": "remove"}).status_code,
            client.post("/teach/member", data={"person": id, "act": "delete", "sure": "yes"}).status_code,
            client.post("/teach/member", data={"person": "x", "act": "remove", "sure": "yes"}).status_code,
            client.post("/teach/class", data={"sure": "yes"}, headers=evil).status_code,
            client.post("/teach/member", data={"person": id, "act": "remove", "sure": "yes"}, headers=evil).status_code,
        ]

    assert statuses == [422, 422, 422, 404, 403, 403]
    assert (site.service.class_code, site.service.user_of(who.token)) == (before, who.user)


def test_a_hostile_name_is_escaped_on_the_pages_of_the_class(open_page, person):
    """Markup in a name stays text in the list, in the title and in the labels."""
    name = "Eve <b onclick=alert(1)>{{7*7}}"
    who, teacher = person(name), person(role=Role.INSTRUCTOR)
    desk = open_page("/teach/class", teacher)
    desk.get_by_role("link", name=name).click()

    expect(desk.get_by_role("heading", level=1)).to_have_text(name)
    expect(desk.get_by_label(f"Yes, remove {name}")).to_have_count(1)
    assert desk.locator("b").count() == 0
    assert who.user.name == name


TITLES = {
    "/teach/": "Gradebook",
    "/teach/?track=Weights": "Gradebook",
    "/teach/?track=Encoder+and+decoder": "Gradebook: Encoder and decoder",
    "/teach/?list=all": "Submissions",
    "/teach/?flag=any": "Worth a look",
    "/teach/?submission=none": "Not found",
    "/teach/class": "Class and members",
    "/": "Exercises",
    "/leaderboard": "Leaderboard",
    "/leaderboard?ex=softmax": "Softmax: leaderboard",
    "/work": "My work",
    "/sign-in": "Sign in",
    "/account": "Your account",
    "/join": "Join a class",
}


def test_every_page_has_a_title_of_its_own(open_page, visitor, person):
    """Tabs and bookmarks can be told apart."""
    teacher = person(role=Role.INSTRUCTOR)
    with visitor(teacher) as client:
        titles = {path: client.get(path).text.partition("<title>")[2].partition("</title>")[0] for path in TITLES}
    assert titles == {path: f"{title} · Attention Gym" for path, title in TITLES.items()}
    expect(open_page("/exercise?ex=softmax", teacher)).to_have_title("Softmax · Attention Gym")


def test_lists_of_an_instructor_fit_on_a_phone(open_page, person, handed_in):
    """No choice, line or title is wider than 390 pixels, where what is wider would be cut off."""
    who = person("Mary Everest Boole of the very long name")
    handed_in(who, LATE_MASK)
    desk = open_page("/teach/", person(role=Role.INSTRUCTOR), viewport={"width": 390, "height": 844})
    for query in ("", "?list=all&ex=causal_attention", f"?student={who.user.id}&ex=causal_attention"):
        desk.goto(f"/teach/{query}")
        expect(desk.get_by_role("heading", level=1)).to_be_visible()
        places = desk.locator(".gym-page > *, .gym-filters *, .gym-attempts li > a")
        assert max(places.evaluate_all("all => all.map((node) => node.getBoundingClientRect().right)")) <= 390, query


def test_an_instructor_renames_a_member(open_page, person, site):
    """The new name stands in the gradebook, and the student's session goes on with it."""
    who, teacher = person("Somebody Unnamed"), person(role=Role.INSTRUCTOR)
    desk = open_page(f"/teach/member?person={who.user.id}", teacher)
    desk.get_by_label("New name").fill("Valentina Tereshkova")
    desk.get_by_role("button", name="Change the name").click()
    expect(desk.get_by_role("status")).to_contain_text("The name is Valentina Tereshkova now")
    expect(desk).to_have_title("Valentina Tereshkova: role and membership · Attention Gym")
    desk.goto("/teach/")
    expect(desk.get_by_role("link", name="Valentina Tereshkova")).to_be_visible()

    assert site.service.user_of(who.token).name == "Valentina Tereshkova"


def test_a_member_is_found_by_name(person, visitor):
    """Capitals and accents make no difference, before any script has run; nobody found is said."""
    teacher = person(role=Role.INSTRUCTOR)
    for number in range(11):
        person(f"D\u00f6rte Sought {number}" if number else "Somebody Else")
    with visitor(teacher) as client:
        everybody = client.get("/teach/class").text
        found = client.get("/teach/class", params={"find": " DORTE sought 1"}).text
        nobody = client.get("/teach/class", params={"find": "<b>nobody"}).text

    assert "Find a name" in everybody
    assert "Somebody Else" in everybody
    assert re.findall(r"D\u00f6rte Sought \d+", found) == ["D\u00f6rte Sought 1", "D\u00f6rte Sought 10"]
    assert "Somebody Else" not in found
    assert "No member has a name with \u201c&lt;b&gt;nobody\u201d." in nobody
