"""What a serializer is, and one that only knows `dumps` and `loads` made into one."""

from __future__ import annotations

from typing import Any, Protocol

from runtime.checkpoint.serde.jsonplus import SerializerProtocol


class UntypedSerializerProtocol(Protocol):
    """Values to bytes and back."""

    def dumps(self, obj: Any) -> bytes:
        """Bytes of a value."""
        ...

    def loads(self, data: bytes) -> Any:
        """The value of bytes."""
        ...


class CipherProtocol(Protocol):
    """What `EncryptedSerializer` needs of a cipher."""

    def encrypt(self, plaintext: bytes) -> tuple[str, bytes]:
        """(name of the cipher, what only it can read)."""
        ...

    def decrypt(self, ciphername: str, ciphertext: bytes) -> bytes:
        """What was encrypted. Raises for what it cannot read."""
        ...


class SerializerCompat:
    """A serializer of one that has no types."""

    def __init__(self, serde: UntypedSerializerProtocol) -> None:
        self.serde = serde

    def dumps_typed(self, obj: Any) -> tuple[str, bytes]:
        """(the type's name, bytes)."""
        return type(obj).__name__, self.serde.dumps(obj)

    def loads_typed(self, data: tuple[str, bytes]) -> Any:
        """The value."""
        return self.serde.loads(data[1])


def maybe_add_typed_methods(serde: SerializerProtocol | UntypedSerializerProtocol) -> SerializerProtocol:
    """The serializer itself, or its `SerializerCompat`."""
    known: Any = serde
    return known if hasattr(serde, "dumps_typed") else SerializerCompat(known)


__all__ = (
    "CipherProtocol",
    "SerializerCompat",
    "SerializerProtocol",
    "UntypedSerializerProtocol",
    "maybe_add_typed_methods",
)
