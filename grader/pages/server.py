"""Serves the pages: what `app.py` and `python -m grader serve` call."""

from __future__ import annotations

import uvicorn

from grader.bootstrap import build
from grader.pages.application import create_app
from grader.settings import Settings


def serve(settings: Settings) -> None:
    """Serve the pages until the process is told to stop."""
    service = build(settings)
    app = create_app(service, settings)
    print(f"Attention Gym is at http://{settings.host}:{settings.port}, in a {service.box_name}.")
    print(f"The class code for registering is {service.class_code}. Stop with Ctrl+C.", flush=True)
    uvicorn.run(
        app,
        host=settings.host,
        port=settings.port,
        log_level="warning",
        server_header=False,
        # With HTTPS in force there is a proxy in front, which alone knows the visitor's address.
        forwarded_allow_ips="*" if settings.cookie_secure else "127.0.0.1",
        timeout_graceful_shutdown=5,
    )
