"""Strict parsing of bodies by their declared types: a number in quotes is refused."""

from typing import Any

import msgspec
from litestar import Request
from litestar.exceptions import SerializationException, ValidationException

HTTPRequest = Request[Any, Any, Any]


class StrictRequest(Request[Any, Any, Any]):
    """A request whose JSON body is decoded directly into the struct that its handler declares.

    Litestar would first make plain values of it and then convert these leniently (`"5"` becomes 5).
    """

    async def body(self) -> bytes:
        """The bytes of the body; an empty one reads as JSON's null, so that its handler says what it misses."""
        return await super().body() or b"null"

    async def json(self) -> Any:  # noqa: ANN401 - the framework's signature
        """The body as the handler's type.

        Raises:
            ValidationException: It is JSON, but a field is missing or wrong.
            SerializationException: It is no JSON.
        """
        field = self.route_handler.parsed_data_field
        wanted = field.annotation if field is not None else Any
        body = await self.body()
        try:
            return msgspec.json.decode(body, type=wanted)
        except msgspec.ValidationError as error:
            _check_syntax(body)  # a wrong field may stand before what is no JSON at all
            text, _, place = str(error).partition(" - at `$")
            raise ValidationException(
                extra=[{"message": text, "key": place.rstrip("`").lstrip("."), "source": "body"}]
            ) from error
        except msgspec.DecodeError as error:
            raise SerializationException(str(error)) from error


def _check_syntax(body: bytes) -> None:
    try:
        msgspec.json.decode(body)
    except msgspec.DecodeError as error:
        raise SerializationException(str(error)) from error
