"""What the faces may ask for: one class, with the rules of who may do what inside."""

from grader.service.service import Service

__all__ = ["Service"]
