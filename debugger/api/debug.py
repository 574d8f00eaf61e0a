"""The page's own routes, under /debug, with the shapes of wire.py.

GET  /debug/graphs                                        -> GraphInfo[]
GET  /debug/graphs/{graph_id}/topology?expanded=a,a:b     -> TopologyView   (expanded=* opens all; default none)
GET  /debug/threads?graph_id=                             -> ThreadRow[]    (newest first)
GET  /debug/threads/{id}                                  -> ThreadRow
GET  /debug/threads/{id}/namespaces                       -> NamespaceRef[]
GET  /debug/threads/{id}/timeline?ns=&limit=100&before=   -> TimelinePage
GET  /debug/threads/{id}/checkpoints/{checkpoint_id}?ns=  -> CheckpointView
GET  /debug/threads/{id}/as-node?ns=&checkpoint_id=       -> AsNodeChoices
POST /debug/threads/{id}/preview    StateEditRequest      -> EditPreview
GET  /debug/threads/{id}/events?after=0&limit=1000        -> EventPage
GET  /debug/threads/{id}/runs                             -> RunView[]
The rest is the LangGraph server API: POST /threads {metadata: {graph_id}}, DELETE /threads/{id},
POST /threads/{id}/state, POST /threads/{id}/runs, POST /threads/{id}/runs/{run_id}/cancel, ...
"""

from __future__ import annotations

from flask import Blueprint, Response, request

from debugger.api.http import answer, body, number, service
from debugger.editing import Editor, Place, place_of
from debugger.inspector import Inspector
from debugger.topology_view import topology_view
from debugger.wire import StateEditRequest

blueprint = Blueprint("debug", __name__, url_prefix="/debug")


@blueprint.get("/graphs")
def graphs() -> Response:
    """The served graphs."""
    return answer([served.info() for served in service().graphs.values()])


@blueprint.get("/graphs/<graph_id>/topology")
def topology(graph_id: str) -> Response:
    """A graph's topology with chosen subgraphs opened."""
    expanded = request.args.get("expanded", "")
    return answer(topology_view(service().graph(graph_id), expanded))


@blueprint.get("/threads")
def threads() -> Response:
    """Threads, the one that changed last first."""
    return answer(service().records.threads(request.args.get("graph_id")))


@blueprint.get("/threads/<thread_id>")
def thread(thread_id: str) -> Response:
    """One thread."""
    return answer(service().thread(thread_id))


@blueprint.get("/threads/<thread_id>/namespaces")
def namespaces(thread_id: str) -> Response:
    """The root, and every subgraph's own line of checkpoints."""
    return answer(Inspector(service().graph_of(thread_id)).namespaces(thread_id))


@blueprint.get("/threads/<thread_id>/timeline")
def timeline(thread_id: str) -> Response:
    """A page of the timeline, newest first."""
    inspector = Inspector(service().graph_of(thread_id))
    ns, before = request.args.get("ns", ""), request.args.get("before") or None
    return answer(inspector.timeline(thread_id, ns, limit=number("limit", 100, 1000), before=before))


@blueprint.get("/threads/<thread_id>/checkpoints/<checkpoint_id>")
def checkpoint(thread_id: str, checkpoint_id: str) -> Response:
    """Everything about a checkpoint."""
    inspector = Inspector(service().graph_of(thread_id))
    ns = request.args.get("ns", "")
    inspector.require(thread_id, ns, checkpoint_id)
    return answer(inspector.look(thread_id, checkpoint_id, ns))


@blueprint.get("/threads/<thread_id>/as-node")
def as_node(thread_id: str) -> Response:
    """The nodes that an edit can be made as."""
    served = service().graph_of(thread_id)
    place = Place(thread_id, request.args.get("ns", ""), request.args.get("checkpoint_id") or None)
    Inspector(served).require(thread_id, place.ns, place.checkpoint_id)
    return answer(Editor(served).choices(place))


@blueprint.post("/threads/<thread_id>/preview")
def preview(thread_id: str) -> Response:
    """What an edit would do; nothing is stored."""
    edit = body(StateEditRequest)
    served = service().graph_of(thread_id)
    place = place_of(thread_id, edit)
    Inspector(served).require(thread_id, place.ns, place.checkpoint_id)
    return answer(Editor(served).preview(place, edit))


@blueprint.get("/threads/<thread_id>/events")
def events(thread_id: str) -> Response:
    """Journalled events after a number."""
    service().thread(thread_id)
    return answer(service().journal.page(thread_id, number("after", 0, 2**53), number("limit", 1000, 5000)))


@blueprint.get("/threads/<thread_id>/runs")
def runs(thread_id: str) -> Response:
    """The thread's runs, newest first."""
    service().thread(thread_id)
    return answer(service().records.runs(thread_id))
