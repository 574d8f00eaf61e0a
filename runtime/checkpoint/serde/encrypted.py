"""Values stored so that only who has the key can read them."""

from __future__ import annotations

from typing import Any

from runtime.checkpoint.serde.base import CipherProtocol
from runtime.checkpoint.serde.jsonplus import JsonPlusSerializer, SerializerProtocol


class EncryptedSerializer:
    """Encrypts what another serializer gives.

    Args:
        cipher: `encrypt(bytes) -> (name, bytes)` and `decrypt(name, bytes) -> bytes`.
        serde: turns values to bytes.

    Values that were stored before, without a cipher, are still read.
    """

    def __init__(self, cipher: CipherProtocol, serde: SerializerProtocol | None = None) -> None:
        self.cipher = cipher
        self.serde = serde or JsonPlusSerializer()

    def dumps_typed(self, obj: Any) -> tuple[str, bytes]:
        """(type and name of the cipher, what it made of the value)."""
        kind, data = self.serde.dumps_typed(obj)
        name, secret = self.cipher.encrypt(data)
        return f"{kind}+{name}", secret

    def loads_typed(self, data: tuple[str, bytes]) -> Any:
        """The value. Raises what the cipher raises for what it cannot read."""
        kind, payload = data
        if "+" not in kind:
            return self.serde.loads_typed(data)
        kind, _, name = kind.partition("+")
        return self.serde.loads_typed((kind, self.cipher.decrypt(name, payload)))


__all__ = ("EncryptedSerializer",)
