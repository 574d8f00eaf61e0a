"""The topology of a compiled graph, as data and as text: Mermaid, DOT, JSON. Nothing here uses the network."""

from __future__ import annotations

from runtime.topology.build import topology_from_drawable, topology_of
from runtime.topology.model import Topology, TopologyEdge, TopologyNode

__all__ = ("Topology", "TopologyEdge", "TopologyNode", "topology_from_drawable", "topology_of")
