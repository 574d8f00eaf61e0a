"""The topology of a compiled graph, as data and as text: networkx, JSON, Mermaid, DOT. Nothing here uses the network."""

from __future__ import annotations

from runtime.topology.drawable import topology_from_drawable
from runtime.topology.from_graph import has_builder, topology_of
from runtime.topology.model import Topology
from runtime.topology.parts import TopologyEdge, TopologyNode

__all__ = ("Topology", "TopologyEdge", "TopologyNode", "has_builder", "topology_from_drawable", "topology_of")
