"""Paths into values, and what may embed."""

from __future__ import annotations

from typing import Any

import pytest

from runtime.store.embed import ensure_embeddings, get_text_at_path, tokenize_path

VALUE: dict[str, Any] = {"a": [{"b": "B0", "c": 1}, {"b": "B1"}], "d": {"e": True, "f": None}}


@pytest.mark.parametrize(
    ("path", "tokens"),
    [
        ("a", ["a"]),
        ("a.b", ["a", "b"]),
        ("a[0].b", ["a", "[0]", "b"]),
        ("a.{b,c.d}", ["a", "{b,c.d}"]),
        ("x..y", ["x", "y"]),
        ("", []),
    ],
)
def test_a_path_is_cut_at_dots_and_brackets(path: str, tokens: list[str]) -> None:
    assert tokenize_path(path) == tokens


@pytest.mark.parametrize(
    ("path", "texts"),
    [
        ("a[*].b", ["B0", "B1"]),
        ("a[-1].b", ["B1"]),
        ("a[0]", ['{"b": "B0", "c": 1}']),
        ("a[9].b", []),
        ("a[x]", []),
        ("a.b", []),
        ("a[*].c", ["1"]),
        ("d.e", ["True"]),
        ("d.f", []),
        ("d.*", ["True"]),
        ("{a[0].b,d.e}", ["B0", "True"]),
        ("nowhere", []),
    ],
)
def test_a_path_leads_to_texts(path: str, texts: list[str]) -> None:
    assert get_text_at_path(VALUE, path) == texts


def test_the_whole_value_is_json_with_sorted_keys() -> None:
    assert get_text_at_path({"b": "é", "a": 1}, "$") == ['{"a": 1, "b": "é"}']


def test_a_named_model_needs_langchain() -> None:
    with pytest.raises(ValueError, match="packages langchain"):
        ensure_embeddings("nobody:none")
