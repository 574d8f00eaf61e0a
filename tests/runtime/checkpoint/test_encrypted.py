"""Values that only who has the key can read, and the async face of the SQLite saver."""

from pathlib import Path
from typing import Any

import pytest
from typing_extensions import TypedDict

from runtime.checkpoint.serde.base import maybe_add_typed_methods
from runtime.checkpoint.serde.encrypted import EncryptedSerializer
from runtime.checkpoint.serde.jsonplus import JsonPlusSerializer
from runtime.checkpoint.sqlite import SqliteSaver
from runtime.checkpoint.sqlite.aio import AsyncSqliteSaver
from runtime.graph import START, StateGraph

CONFIG: Any = {"configurable": {"thread_id": "t"}}


class Xor:
    """A cipher for tests."""

    def __init__(self, key: int) -> None:
        self.key = key

    def encrypt(self, plaintext: bytes) -> tuple[str, bytes]:
        return "xor", bytes(byte ^ self.key for byte in plaintext)

    def decrypt(self, ciphername: str, ciphertext: bytes) -> bytes:
        if ciphername != "xor":
            raise ValueError(f"no cipher {ciphername}")
        return bytes(byte ^ self.key for byte in ciphertext)


class State(TypedDict):
    secret: str


def graph(saver: Any) -> Any:
    return StateGraph(State).add_node("node", lambda state: state).add_edge(START, "node").compile(checkpointer=saver)


def test_a_file_without_the_secret(tmp_path: Path) -> None:
    path = tmp_path / "secret.sqlite"
    with SqliteSaver.from_conn_string(path, serde=EncryptedSerializer(Xor(77))) as saver:
        graph(saver).invoke({"secret": "the word is swordfish"}, CONFIG)
        assert graph(saver).get_state(CONFIG).values == {"secret": "the word is swordfish"}
    stored = b"".join(file.read_bytes() for file in tmp_path.iterdir())
    assert b"swordfish" not in stored


def test_what_was_stored_before_is_still_read() -> None:
    serde = EncryptedSerializer(Xor(77))
    assert serde.loads_typed(JsonPlusSerializer().dumps_typed([1])) == [1]
    kind, data = serde.dumps_typed([1])
    assert (kind, serde.loads_typed((kind, data))) == ("msgpack+xor", [1])
    with pytest.raises(ValueError, match="no cipher aes"):
        serde.loads_typed(("msgpack+aes", data))


def test_a_serializer_without_types_gets_them() -> None:
    class Text:
        def dumps(self, obj: Any) -> bytes:
            return str(obj).encode()

        def loads(self, data: bytes) -> Any:
            return data.decode()

    typed = maybe_add_typed_methods(Text())
    assert typed.dumps_typed(5) == ("int", b"5")
    assert typed.loads_typed(("int", b"5")) == "5"
    assert maybe_add_typed_methods(typed) is typed


async def test_the_async_saver(tmp_path: Path) -> None:
    async with AsyncSqliteSaver.from_conn_string(tmp_path / "a.sqlite") as saver:
        await saver.setup()
        await graph(saver).ainvoke({"secret": "s"}, CONFIG)
    with SqliteSaver.from_conn_string(tmp_path / "a.sqlite") as saver:
        assert graph(saver).get_state(CONFIG).values == {"secret": "s"}
