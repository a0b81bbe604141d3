"""What an instructor sees and does: an attempt with its report, the class, its code and its members."""

import re

import pytest
from playwright.sync_api import expect

from grader.store import people
from grader.store.records import Role, State
from tests.pages.conftest import PASSWORD, wait_for
from tests.pages.test_journeys import LATE_MASK, SOLUTION

BOX = "(node) => (({left, top, right, bottom}) => ({left, top, right, bottom}))(node.getBoundingClientRect())"


@pytest.fixture
def handed_in(site):
    """Give a function that hands something in, and returns its id once it is graded."""

    def hand_in(who, source, exercise="causal_attention"):
        id = site.service.submit(who.user, exercise, source)

        def ready():
            found = site.service.submission(who.user, id)
            return found.state is State.DONE and found.report.complete

        wait_for(ready, 90)
        return id

    return hand_in


@pytest.mark.parametrize(("width", "beside"), [(1280, True), (1000, True), (999, False), (390, False)])
def test_code_stands_beside_its_report(open_page, person, handed_in, *, width, beside):
    """In two columns where there is room for them, else the code above the report; nothing is wider than the page."""
    id = handed_in(person(), LATE_MASK)
    desk = open_page(f"/teach/?submission={id}", person(role=Role.INSTRUCTOR), viewport={"width": width, "height": 844})
    expect(desk.get_by_role("heading", name="Not accepted yet")).to_be_visible()
    code, report = (desk.locator(place).evaluate(BOX) for place in (".gym-source", "#report .gym-report"))

    if beside:
        assert code["right"] < report["left"]
        assert abs(code["top"] - report["top"]) < 3
    else:
        assert code["bottom"] < report["top"]
        assert abs(code["left"] - report["left"]) < 3
    assert desk.evaluate("document.documentElement.scrollWidth") == width


def test_an_attempt_has_no_full_stop_before_its_date(open_page, person, handed_in):
    """The title of its mistake is a sentence elsewhere."""
    id = handed_in(person(), LATE_MASK)
    desk = open_page(f"/teach/?submission={id}", person(role=Role.INSTRUCTOR))

    expect(desk.locator(".gym-title .gym-sub").first).to_contain_text("starts one position too late, just now")


def test_code_that_is_read_has_colours_and_a_note_at_the_line_of_the_mistake(open_page, person, handed_in):
    """Words of Python have their colours; the line that the report names says why, and is found from the report."""
    id = handed_in(person(), LATE_MASK)
    desk = open_page(f"/teach/?submission={id}", person(role=Role.INSTRUCTOR))
    lines = desk.get_by_label("The submitted code").get_by_role("listitem")

    expect(lines.first.locator(".tok-keyword")).to_have_text("import")
    expect(lines).to_have_count(len(LATE_MASK.splitlines()))
    noted = desk.locator(".gym-noted")
    expect(noted).to_have_count(1)
    expect(noted).to_contain_text("scores.masked_fill")
    expect(noted).to_contain_text("Your mask starts one position too late")
    desk.get_by_role("button", name="line 17").first.click()
    expect(desk.locator(".gym-here")).to_have_attribute("id", "line-17")


def test_an_instructor_goes_from_attempt_to_attempt(open_page, person, handed_in):
    """To the one before and the one after it, of the same student at the same exercise; the tab says which it is."""
    who, other = person("Maria Agnesi"), person()
    handed_in(who, "def softmax(x, dim=-1):\n    return x\n", "softmax")
    first = handed_in(who, LATE_MASK)
    handed_in(other, LATE_MASK)
    handed_in(who, SOLUTION)
    desk = open_page(f"/teach/?submission={first}", person(role=Role.INSTRUCTOR))
    way = desk.get_by_role("navigation", name="Attempts")
    expect(desk).to_have_title("Maria Agnesi: Causal attention, attempt 1 · Attention Gym")
    expect(desk.locator("#attempt")).to_contain_text("Attempt 1 of 2 · Your mask starts one position too late")
    expect(way.get_by_role("link")).to_have_text([re.compile("Next attempt")])
    way.get_by_role("link", name="Next attempt").click()
    expect(desk.locator("#attempt")).to_contain_text("Attempt 2 of 2 · full marks")
    expect(desk.get_by_label("The submitted code")).to_contain_text("diagonal=1")
    expect(way.get_by_role("link")).to_have_text([re.compile("Previous attempt")])
    way.get_by_role("link", name="Previous attempt").click()

    expect(desk.get_by_label("The submitted code")).to_contain_text("diagonal=2")


HOSTILE = "'''</code><img src=x onerror=alert(1)>${alert(2)}'''\n# \u202e<script>alert(3)</script>\nraise ValueError\n"


def test_hostile_code_is_shown_to_an_instructor_and_not_obeyed(open_page, person, handed_in):
    """Markup in code stays text, in colours too; what turns the line around is shown as a mark."""
    id = handed_in(person(), HOSTILE)
    desk = open_page(f"/teach/?submission={id}", person(role=Role.INSTRUCTOR))

    expect(desk.locator("#line-1 .tok-string")).to_contain_text("<img src=x onerror=alert(1)>")
    expect(desk.locator("#line-2")).to_contain_text("\ufffd<script>alert(3)</script>")
    assert desk.locator("img[src=x]").count() == 0


def test_the_class_code_is_shown_and_replaced(open_page, person, visitor, site):
    """It stands above the gradebook; a new one is drawn only if one says so, and counts at once."""
    desk = open_page("/teach/", person(role=Role.INSTRUCTOR))
    before = site.service.class_code
    expect(desk.get_by_text("Class code")).to_contain_text(before)
    desk.get_by_role("link", name="Class and members").click()
    expect(desk).to_have_title("Class and members · Attention Gym")
    desk.get_by_role("button", name="Draw a new code").click()  # the browser asks for the tick
    assert site.service.class_code == before
    desk.get_by_label("The code above stops working.").check()
    desk.get_by_role("button", name="Draw a new code").click()
    expect(desk.get_by_role("status")).to_contain_text("This is the new class code.")
    after = site.service.class_code
    expect(desk.locator(".gym-big-code")).to_have_text(after)
    forms = [{"name": f"Late {code}", "password": PASSWORD, "class_code": code} for code in (before, after)]
    with visitor() as client:
        taken = [client.post("/register", data=form).status_code for form in forms]
    put_back(site, before)

    assert taken == [403, 303]


def put_back(site, code):
    """Let the code of before count again, which other tests know."""
    with site.service.members._database.write() as session:
        people.replace_class_code(session, code)


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


def test_a_member_is_removed_and_taken_back(open_page, person, site):
    """They are listed as a former member, out of the gradebook, and come back from there."""
    who, teacher = person("Rosa Luxemburg"), person(role=Role.INSTRUCTOR)
    desk = open_page(f"/teach/?student={who.user.id}", teacher)
    desk.get_by_role("link", name="Role and membership").click()
    desk.get_by_label("Yes, remove Rosa Luxemburg").check()
    desk.get_by_role("button", name="Remove from the class").click()
    expect(desk.get_by_role("status")).to_have_text("Rosa Luxemburg is no longer in the class.")
    desk.goto("/teach/")
    expect(desk.get_by_role("link", name="Class and members")).to_be_visible()
    expect(desk.get_by_role("link", name="Rosa Luxemburg")).to_have_count(0)
    desk.goto("/teach/class")
    desk.get_by_role("region", name="Former members").get_by_role("link", name="Rosa Luxemburg").click()
    desk.get_by_label("Yes, take Rosa Luxemburg back").check()
    desk.get_by_role("button", name="Take back").click()

    expect(desk.get_by_role("status")).to_have_text("Rosa Luxemburg is a student of the class now.")
    assert site.service.user_of(who.token) == who.user


@pytest.mark.parametrize("role", [None, Role.STUDENT])
def test_the_forms_of_the_class_are_for_instructors(visitor, person, site, role):
    """Guests and students reach none of them by hand; nothing is changed, and the code is not told."""
    who = person(role=role) if role else None
    before = site.service.class_code
    with visitor(who) as client:
        shown = [client.get(path) for path in ("/teach/class", "/teach/member?person=1")]
        sent = [client.post("/teach/class", data={"sure": "yes"})]
        target = str(who.user.id if who else 1)
        sent += [
            client.post("/teach/member", data={"person": target, "act": act, "sure": "yes"})
            for act in ("instructor", "student", "remove")
        ]

    assert {(answer.status_code, answer.headers["location"]) for answer in shown} == {
        (303, "/sign-in?next=/teach/class")
    }
    assert [answer.status_code for answer in sent] == [401] * 4
    assert site.service.class_code == before
    assert all(before not in answer.text for answer in (*shown, *sent))


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


def test_a_score_leads_to_the_attempt_that_it_comes_from(open_page, person, handed_in, site):
    """The best one, and not the last one."""
    who = person("Katherine Johnson")
    handed_in(who, LATE_MASK)
    handed_in(who, SOLUTION)
    handed_in(who, LATE_MASK)
    desk = open_page("/teach/", person(role=Role.INSTRUCTOR))
    row = desk.get_by_role("row").filter(has=desk.get_by_role("link", name="Katherine Johnson"))
    row.get_by_role("link", name="100", exact=True).click()

    expect(desk.locator("#attempt")).to_contain_text("Attempt 2 of 3 · full marks")


def test_a_list_is_narrowed_to_an_exercise_and_a_mistake(open_page, person, handed_in):
    """From the table of mistakes to the attempts that made it; the choices above the list say so and undo it."""
    who = person("Dorothy Vaughan")
    handed_in(who, "def softmax(x, dim=-1):\n    return x\n", "softmax")
    handed_in(who, LATE_MASK)
    handed_in(who, SOLUTION)
    desk = open_page(f"/teach/?student={who.user.id}", person(role=Role.INSTRUCTOR))
    lines = desk.locator(".gym-attempts li > a")
    expect(lines).to_have_count(3)
    desk.get_by_label("Exercise").select_option(value=f"/teach/?student={who.user.id}&ex=causal_attention")
    expect(desk).to_have_title("Dorothy Vaughan: Causal attention · Attention Gym")
    expect(lines).to_have_count(2)
    desk.get_by_label("Mistake").select_option(label="Your mask starts one position too late.")
    expect(lines).to_have_count(1)
    expect(lines).to_contain_text("attempt 1")
    desk.goto("/teach/")
    mistake = desk.get_by_role("region", name="Most common mistakes").get_by_role("row")
    mistake.filter(has_text="one position too late").get_by_role("link").click()
    expect(desk).to_have_title("Submissions: Causal attention · Attention Gym")
    expect(lines.filter(has_text="Dorothy Vaughan")).to_have_count(1)


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
