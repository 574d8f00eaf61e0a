"""A served graph's topology in the shapes of the page and of the server API."""

from __future__ import annotations

from typing import Any

from debugger.graphs.adapter import ServedGraph
from debugger.wire import TopologyEdge, TopologyNode, TopologyView
from runtime.topology import Topology, has_builder, topology_from_drawable, topology_of


def whole(served: ServedGraph, xray: bool | int = True) -> Topology:
    """The topology with all subgraphs, however the graph was made. From the builder where the graph keeps one: LangGraph's
    own drawing leaves out where a router without targets goes."""
    if has_builder(served.graph):
        return topology_of(served.graph, xray=xray)
    return topology_from_drawable(served.graph.get_graph(xray=xray))


def topology_view(served: ServedGraph, expanded: str) -> TopologyView:
    """The view with the chosen subgraphs opened: ids separated by commas, `*` for all, '' for none."""
    opened: Any = "*" if expanded == "*" else {part for part in expanded.split(",") if part}
    view = whole(served).collapse(opened)
    return TopologyView(
        graph_id=served.id,
        nodes=[
            TopologyNode(id=n.id, name=n.name, kind=n.kind, parent=n.parent, expanded=n.expanded) for n in view.parts
        ],
        edges=[
            TopologyEdge(
                id=e.id,
                source=e.source,
                target=e.target,
                conditional=e.conditional,
                anywhere=e.anywhere,
                label=e.label,
            )
            for e in view.edges
        ],
        dot=view.draw_dot(),
        mermaid=view.draw_mermaid(),
    )


def server_graph(served: ServedGraph, xray: bool | int) -> dict[str, Any]:
    """Nodes and edges as the server API gives them."""
    return whole(served, xray).to_json()
