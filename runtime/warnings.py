"""Warnings about what will go."""

from __future__ import annotations


class LangGraphDeprecationWarning(DeprecationWarning):
    """Something is deprecated.

    Args:
        message: what, and what to use.
        since: the version (major, minor) from which on.
        expected_removal: the version without it; the next major one by default.
    """

    def __init__(
        self,
        message: str,
        *args: object,
        since: tuple[int, int],
        expected_removal: tuple[int, int] | None = None,
    ) -> None:
        super().__init__(message, *args)
        self.message = message.rstrip(".")
        self.since = since
        self.expected_removal = expected_removal if expected_removal is not None else (since[0] + 1, 0)

    def __str__(self) -> str:
        since, gone = ("{}.{}".format(*version) for version in (self.since, self.expected_removal))
        return f"{self.message}. Deprecated in LangGraph V{since} to be removed in V{gone}."


class LangGraphDeprecatedSinceV05(LangGraphDeprecationWarning):
    """Since 0.5."""

    def __init__(self, message: str, *args: object) -> None:
        super().__init__(message, *args, since=(0, 5), expected_removal=(2, 0))


class LangGraphDeprecatedSinceV10(LangGraphDeprecationWarning):
    """Since 1.0."""

    def __init__(self, message: str, *args: object) -> None:
        super().__init__(message, *args, since=(1, 0), expected_removal=(2, 0))


class LangGraphDeprecatedSinceV11(LangGraphDeprecationWarning):
    """Since 1.1."""

    def __init__(self, message: str, *args: object) -> None:
        super().__init__(message, *args, since=(1, 1), expected_removal=(3, 0))


__all__ = (
    "LangGraphDeprecatedSinceV05",
    "LangGraphDeprecatedSinceV10",
    "LangGraphDeprecatedSinceV11",
    "LangGraphDeprecationWarning",
)
