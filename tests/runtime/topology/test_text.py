"""Mermaid and DOT: any name survives, and a reader's own style sheet can tell the parts from each other."""

from __future__ import annotations

import re
from types import SimpleNamespace

import pytest

from runtime.topology import Topology
from tests.runtime.topology.drawn import END, START, Node, build, plan

ODD = [
    "a b",
    'q"q',
    "end",
    "graph",
    "ünï",
    "<script>alert(1)</script>",
    "a&amp;b",
    "back\\N",
    "日本",
    "-->",
    ";",
    "%%{init}%%",
    "#35;",
    "`t`",
    "",
]
LINE = plan("ab", (START, "a"), ("a", "b"))
NESTED = plan(
    [Node("research", LINE), "b"], (START, "research"), routers=[("research", {"more": "research", "done": "b"})]
)


def opened() -> Topology:
    topology: Topology = build(NESTED).get_graph(xray=True)
    return topology


# -- Mermaid -----------------------------------------------------------------------------------------------------------

STATEMENT = re.compile(
    r"""
    graph\ TD; | end
    | subgraph\ (?P<group>\w+)\["(?P<title>[^"]*)"\]
    | (?P<id>n\d+\w*)(\("|\[\["|\(\[")(?P<text>[^"]*)("\)|"\]\]|"\]\));
    | (?P<source>n\d+\w*)\ (-->|-\.->)(\|"(?P<label>[^"]*)"\|)?\ (?P<target>n\d+\w*);
    | (classDef|class|linkStyle)\ [\w,]+\ [\w:\#,.\- ]+;
    """,
    re.VERBOSE | re.ASCII,
)


def statements(text: str) -> list[re.Match[str]]:
    lines = [line.strip() for line in text.split("---\n")[-1].splitlines()]
    found = [STATEMENT.fullmatch(line) for line in lines]
    assert None not in found, lines[found.index(None)]
    return [match for match in found if match]


def texts(drawn: list[re.Match[str]]) -> list[str]:
    """Labels of nodes as Mermaid shows them."""
    labels = [match["text"] for match in drawn if match["id"]]
    return [re.sub(r"#(\d+);", lambda code: chr(int(code[1])), label) for label in labels]


def test_any_name_makes_readable_mermaid() -> None:
    edges = list(zip([START, *ODD], ODD, strict=False))
    topology = build(plan(ODD, *edges, routers=[("end", {'"yes" | no; %% x': "a b"})])).get_graph()
    drawn = statements(topology.draw_mermaid())
    assert texts(drawn) == [START, *ODD[:-1], " ", END]
    assert len({match["id"] for match in drawn if match["id"]}) == len(ODD) + 2


def test_no_id_is_a_word_of_mermaid() -> None:
    words = ["end", "graph", "subgraph", "flowchart", "classDef", "class", "style", "click", "default", "o", "x"]
    drawn = statements(build(plan(words, *((START, word) for word in words))).get_graph().draw_mermaid())
    assert {match["id"] for match in drawn if match["id"]}.isdisjoint(words)


def test_subgraphs_are_nested_and_edges_labelled() -> None:
    drawn = statements(opened().draw_mermaid())
    assert [match["title"] for match in drawn if match["group"]] == ["research"]
    assert [match["label"] for match in drawn if match["label"]] == ["more", "done"]


def test_ways_to_anywhere_have_a_look_of_their_own() -> None:
    text = build(plan("ab", (START, "a"), routers=[("a", None)])).get_graph().draw_mermaid()
    assert "\tlinkStyle 1,2,3 stroke-dasharray" in text
    assert "linkStyle" not in opened().draw_mermaid()


def test_mermaid_takes_the_options_people_know() -> None:
    colors = SimpleNamespace(default="fill:#111111", first="fill:#222222", last="fill:#333333")
    text = opened().draw_mermaid(
        curve_style=SimpleNamespace(value="basis"),
        node_colors=colors,
        frontmatter_config={"title": "Desk", "config": {"theme": "dark", "flowchart": {"padding": 3}}},
    )
    assert text.startswith(
        '---\nconfig: {"theme": "dark", "flowchart": {"padding": 3, "curve": "basis"}}\ntitle: "Desk"\n---\ngraph TD;\n'
    )
    assert "classDef last fill:#333333;" in text


def test_without_styles_only_the_graph_is_written() -> None:
    text = opened().draw_mermaid(with_styles=False)
    assert text.startswith("graph TD;\n")
    assert "class" not in text


def test_long_labels_are_wrapped() -> None:
    graph = plan("ab", (START, "a"), routers=[("a", {"one two three": "b"})])
    assert '|"one two<br>three"|' in build(graph).get_graph().draw_mermaid(wrap_label_n_words=2)


def test_ways_to_anywhere_that_are_too_many_become_one_arrow_a_router() -> None:
    names = [f"step_{index}" for index in range(50)]
    topology = build(
        plan(names, *((START, name) for name in names), routers=[("step_0", None), ("step_7", None)])
    ).get_graph()
    assert sum(edge.anywhere for edge in topology.edges) == 102
    text, drawn = topology.draw_mermaid(), topology.draw_dot()
    assert text.count("any node") == drawn.count("any node") == 2
    assert 'n1_step_0 -.-> n1_step_0_any["any node"];' in text
    assert 'id="e|step_7->*"' in drawn
    assert "linkStyle" not in text


# -- DOT ---------------------------------------------------------------------------------------------------------------


def test_parts_have_ids_and_classes() -> None:
    text = opened().collapse(()).draw_dot()
    assert 'id="n|research"' in text
    assert 'class="subgraph" id="n|research"' in text
    assert 'class=start id="n|__start__"' in text
    assert 'class=conditional id="e|research->research" style=dashed' in text
    assert 'label=" done "' in text
    assert "bgcolor=transparent" in text
    assert "black" not in text


def test_opened_subgraphs_are_clusters() -> None:
    text = opened().draw_dot()
    assert re.search(r'subgraph cluster_n\d+ \{\s+class="subgraph" .* id="c\|research" label=research', text)
    assert 'id="n|research:a"' in text


def test_ways_to_anywhere_are_dotted_and_do_not_bend_the_layout() -> None:
    text = build(plan("ab", (START, "a"), routers=[("a", None)])).get_graph().draw_dot()
    assert 'class=anywhere constraint=false id="e|a->a" style=dotted' in text
    assert 'class=anywhere id="e|a->b" style=dotted' in text


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("<b>x</b>", '"<b>x</b>"'),
        ("back\\N", '"back\\\\N"'),
        ("a&lt;b", '"a&amp;lt;b"'),
        ('q"q', '"q\\"q"'),
    ],
)
def test_names_are_text_to_graphviz(name: str, written: str) -> None:
    assert f"label={written}" in build(plan([name], (START, name))).get_graph().draw_dot()
