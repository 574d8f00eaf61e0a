"""Requests and answers: validated bodies in, JSON out."""

from __future__ import annotations

import json
from typing import Any, TypeVar

from flask import Response, current_app, request
from pydantic import BaseModel, ValidationError

from debugger.errors import DebuggerError
from debugger.service import Service
from debugger.wire import FieldProblem

Model = TypeVar("Model", bound=BaseModel)


def service() -> Service:
    """The service of this application."""
    found: Service = current_app.config["SERVICE"]
    return found


def answer(value: Any, status: int = 200) -> Response:
    """A model, a list of models, or plain data as JSON."""
    if isinstance(value, list):
        value = [item.model_dump() if isinstance(item, BaseModel) else item for item in value]
    elif isinstance(value, BaseModel):
        value = value.model_dump()
    return Response(json.dumps(value, ensure_ascii=False, allow_nan=False), status, mimetype="application/json")


def fail(error: DebuggerError) -> Response:
    """An error as JSON."""
    return answer(error.body(), error.status)


def raw_body() -> Any:
    """The body as JSON, whatever its content type; {} when there is none.

    Raises:
        DebuggerError: it is no JSON; the place is named.
    """
    text = request.get_data(as_text=True)
    if not text.strip():
        return {}
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise DebuggerError(
            "invalid_json",
            f"The body is no JSON: {error.msg} at line {error.lineno}, column {error.colno}.",
            "Send a JSON object.",
        ) from error


def body(model: type[Model]) -> Model:
    """The body as a model. Raises DebuggerError (422) with each problem at its path."""
    given = raw_body()
    try:
        return model.model_validate(given)
    except ValidationError as error:
        problems = [
            FieldProblem(
                path=[part for part in problem["loc"] if isinstance(part, (str, int))],
                message=f"{'.'.join(map(str, problem['loc'])) or 'body'}: {problem['msg']}",
                fix="See the shape in debugger/wire.py, or leave the field out.",
            )
            for problem in error.errors()
        ]
        raise DebuggerError(
            "invalid_body",
            " ".join(problem.message for problem in problems),
            "Mend the named fields.",
            status=422,
            problems=problems,
        ) from error


def number(name: str, default: int, most: int) -> int:
    """A whole number from the query, at most `most`. Raises DebuggerError."""
    text = request.args.get(name)
    if text is None:
        return default
    if not text.isdigit():
        raise DebuggerError(
            "invalid_query", f"'{name}' must be a whole number, got '{text}'.", f"Try {name}={default}."
        )
    return min(int(text), most)
