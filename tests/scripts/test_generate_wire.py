"""The page's types are made from the server's shapes."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType
from typing import Any, Literal

import pytest

from debugger import wire

SCRIPT = Path(__file__).parent.parent.parent / "scripts" / "generate_wire.py"


@pytest.fixture(scope="module")
def generator() -> ModuleType:
    spec = importlib.util.spec_from_file_location("generate_wire_under_test", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("annotation", "expected"),
    [
        (str | None, "string | null"),
        (list[str | int], "(string | number)[]"),
        (dict[str, Any], "Record<string, unknown>"),
        (Literal["add", "remove"], "'add' | 'remove'"),
        (list[wire.EventRow], "EventRow[]"),
    ],
)
def test_an_annotation_has_its_typescript(generator: ModuleType, annotation: Any, expected: str) -> None:
    assert generator.typescript(annotation) == expected


def test_an_annotation_without_one_is_an_error(generator: ModuleType) -> None:
    with pytest.raises(TypeError, match="No TypeScript for"):
        generator.typescript(set[str])


def test_every_shape_and_every_field_is_there(generator: ModuleType) -> None:
    text = generator.generate()
    for model in wire.Wire.__subclasses__():
        assert f"export interface {model.__name__} {{" in text
        assert all(f"  {name}" in text for name in model.model_fields)


def test_a_file_that_drifted_is_found(
    generator: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "wire.ts"
    target.write_text(generator.generate() + "\n")
    monkeypatch.setattr(generator, "TARGET", target)
    monkeypatch.setattr("sys.argv", ["generate_wire.py", "--check"])
    assert generator.main() == 1
    assert "Run: python scripts/generate_wire.py" in capsys.readouterr().err
    assert target.read_text().endswith("\n\n")
