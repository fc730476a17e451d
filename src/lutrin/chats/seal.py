"""Encrypt readers' words in a database that is not encrypted as a whole."""

import base64
import os

from lutrin.errors import ChatStoreError

NONCE_BYTES = 12
MARK = "s1:"
"""Prefix of a sealed text; a later format would get another one."""


class Seal:
    """How a database stores readers' words; this one as they are, for one that is encrypted as a whole."""

    def close(self, text: str) -> str:
        """Return the text in its stored form; an empty text stays empty."""
        return text

    def open(self, stored: str) -> str:
        """Return the original text.

        Raises:
            ChatStoreError: Another key sealed it, or it was changed.
        """
        return stored


class KeySeal(Seal):
    """AES-256 in Galois/Counter Mode (NIST SP 800-38D), a random nonce for each text; its key in hexadecimal."""

    def __init__(self, key: str) -> None:
        # Needed only for PostgreSQL; SQLCipher has its own cipher.
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM  # noqa: PLC0415 - see above

        self._cipher = AESGCM(bytes.fromhex(key))

    def close(self, text: str) -> str:
        """Return the text in its stored form; see `Seal.close`."""
        if not text:
            return ""
        nonce = os.urandom(NONCE_BYTES)
        sealed = nonce + self._cipher.encrypt(nonce, text.encode("utf-8", "surrogatepass"), None)
        return MARK + base64.b64encode(sealed).decode()

    def open(self, stored: str) -> str:
        """Return the original text; see `Seal.open`."""
        from cryptography.exceptions import InvalidTag  # noqa: PLC0415 - as above

        if not stored:
            return ""
        try:
            sealed = base64.b64decode(stored.removeprefix(MARK), validate=True)
            text = self._cipher.decrypt(sealed[:NONCE_BYTES], sealed[NONCE_BYTES:], None)
        except (InvalidTag, ValueError) as error:
            raise ChatStoreError(
                "The conversations were written with another key.", remedy="Give all servers the same LUTRIN_CHAT_KEY."
            ) from error
        return text.decode("utf-8", "surrogatepass")
