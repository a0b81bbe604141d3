"""The older pages of somebody who teaches two classes: each address says which one, and leads to others of it."""

from __future__ import annotations

import re

from grader.store.records import Role

TWO = {"class": "second", "name": "Second & last", "zone": "UTC", "bank": 0, "sections": []}


def _make_second(site, teacher):
    site.service.classes.do("admin", "class", TWO)
    name = site.service.classes.person_of(teacher)
    appointed = {"class": "second", "person": name, "name": "Ida", "role": "instructor"}
    site.service.classes.do("admin", "staff", appointed)
    site.service.accounts.sessions.forget()


def test_every_link_of_a_class_stays_in_the_class(site, person, visitor):
    """From the gradebook to members, lists and files, and on from there; the other class's people are in none."""
    ida, eve = person(role=Role.INSTRUCTOR), person("of the first class")
    _make_second(site, ida.user)
    room = site.service.classroom(ida.user, "second")
    bob = person("of the second class")
    site.service.accounts.join(bob.user, room.replace_code())
    seen, wanted = set(), {"/teach/?class=second"}
    with visitor(ida) as client:
        while wanted - seen:
            address = (wanted - seen).pop()
            seen.add(address)
            text = client.get(address).text.partition("<main")[2]  # above is the header, of all pages
            assert eve.user.name not in text, address
            links = re.findall(r'(?:href|action|value)="(/teach[^"]*)"', text)
            found = {link.replace("&amp;", "&") for link in links} - {"/teach/?class=the-class"}  # the choice
            assert {link for link in found if "class=second" not in link} == set(), address
            # Of lists by exercise and track there are as many as exercises; to the other one only forms are sent.
            wanted |= {one for one in found if not re.search("ex=|track=|/reset", one)}

    assert {"/teach/class?class=second", f"/teach/?class=second&student={bob.user.id}"} < seen


def test_a_class_that_one_does_not_teach_leads_to_those_that_one_does(site, person, visitor):
    """A class that does not exist is answered in the same way."""
    with visitor(person(role=Role.INSTRUCTOR)) as client:
        answers = [client.get(f"/teach/?class={key}", follow_redirects=False) for key in ("second", "none")]

    assert [(one.status_code, one.headers["location"]) for one in answers] == [(303, "/classes")] * 2
