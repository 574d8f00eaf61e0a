"""Generated graphs and journeys show the same on `runtime` as on `langgraph`."""

import pytest
from generated import JOURNEYS, Act, Graph, UnreadableError, graphs, travel
from hypothesis import HealthCheck, given, reject, settings
from hypothesis import strategies as st
from test_programs import differences
from twins import MANNERS, Manner, Program, play


@pytest.mark.filterwarnings("ignore")
@settings(
    max_examples=settings.default.max_examples // 4 if settings.default else 25,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
@given(graphs(), JOURNEYS, st.sampled_from(MANNERS))
def test_any_journey_through_any_graph_shows_the_same(plan: Graph, journey: tuple[Act, ...], manner: Manner) -> None:
    program = Program("generated", lambda lib, it: travel(lib, it, plan, journey), parallel=True, results=False)
    try:
        expected = play("langgraph", program, manner)
    except UnreadableError:
        reject()
    found = play("runtime", program, manner)
    assert found == expected, differences(expected, found)
