"""The guard decides by path, origin and body alone."""

import json

import pytest
from starlette.datastructures import Headers

from grader.pages.guard import Refusal, check_body, check_origin, is_known

NEEDED = [
    "/",
    "/exercise",
    "/teach/",
    "/teach/config",
    "/gradio_api/queue/join",
    "/gradio_api/heartbeat/abc",
    "/gym/gym.js",
]
NOT_NEEDED = [
    "/gradio_api/upload",
    "/gradio_api/file=/etc/passwd",
    "/gradio_api/proxy=http://example.org",
    "/gradio_api/component_server",
    "/gradio_api/deep_link",
    "/gradio_api/runs",
    "/gradio_api/stream/x",
    "/gradio_api/custom_component/x",
    "/gradio_api/process_recording",
    "/gradio_api/vibe-edit",
    "/gradio_api/openapi.json",
    "/monitoring",
    "/monitoring/summary",
    "/login",
    "/docs",
    "/file=/etc/passwd",
    "/gym/../app.py",
    "/teach/monitoring",
    "//gradio_api/upload",
    "/teach/gradio_api/upload",
    "/gradio_api/call/../upload",
]


@pytest.mark.parametrize("path", NEEDED)
def test_paths_of_our_pages_are_known(path):
    """What the pages use is let through."""
    assert is_known(path)


@pytest.mark.parametrize("path", NOT_NEEDED)
def test_other_paths_are_unknown(path):
    """Each door of Gradio that no page of ours uses is shut."""
    assert not is_known(path)


def test_what_looks_like_an_upload_is_refused_at_any_depth():
    """A dictionary with `path` and `meta` would make Gradio read a file of the server."""
    file = {"path": "/etc/passwd", "meta": {"_type": "gradio.FileData"}}
    with pytest.raises(Refusal) as refused:
        check_body(json.dumps({"data": [[{"a": [file]}]]}).encode())

    assert refused.value.status == 400


def test_keys_spelt_with_escapes_are_seen_through():
    """JSON may write `path` with escapes; the guard reads it as Gradio will."""
    with pytest.raises(Refusal):
        check_body(b'{"data": [{"p\\u0061th": "/etc/passwd", "meta": {}}]}')


@pytest.mark.parametrize("body", [b"[" * 100 + b"]" * 100, b"[" * 200_000, b"{", b"\xff\xfe"])
def test_bodies_too_deep_or_broken_are_refused(body):
    """What is no JSON, or nests without end, goes no further."""
    with pytest.raises(Refusal):
        check_body(body)


def test_an_ordinary_event_passes():
    """Code and an exercise's name are let through."""
    check_body(json.dumps({"data": ["causal_attention", "import torch"], "session_hash": "abc"}).encode())


FOREIGN = [
    {"host": "gym.example", "origin": "https://evil.example"},
    {"host": "gym.example", "origin": "null"},
    {"host": "gym.example", "sec-fetch-site": "cross-site"},
    {"host": "gym.example", "sec-fetch-site": "same-site"},
    {"host": "gym.example:80", "origin": "http://gym.example:81"},
]


@pytest.mark.parametrize("headers", FOREIGN)
def test_requests_from_other_sites_are_refused(headers):
    """Nobody can make a signed-in browser write to us from elsewhere."""
    with pytest.raises(Refusal) as refused:
        check_origin(Headers(headers))

    assert refused.value.status == 403


OWN = [
    {"host": "gym.example", "origin": "https://gym.example", "sec-fetch-site": "same-origin"},
    {"host": "gym.example"},
]


@pytest.mark.parametrize("headers", OWN)
def test_requests_from_our_own_pages_pass(headers):
    """Our own pages, and programs without a browser, may write."""
    check_origin(Headers(headers))
