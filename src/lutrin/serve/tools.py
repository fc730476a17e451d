"""The book as tools of the Model Context Protocol, so that an agent on a robot can read the manual.

Spoken over standard input and output by `lutrin mcp`; needs the package `mcp` (extra `lutrin[mcp]`).
"""

from typing import Annotated, Any

import msgspec
from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import ToolAnnotations
from pydantic import Field

from lutrin import __version__
from lutrin.errors import LutrinError
from lutrin.records import DoneEvent, Question
from lutrin.serve.answer_service import check_lengths
from lutrin.serve.schemas import RetrievedPassage
from lutrin.serve.services import Answers, Retrieval

INSTRUCTIONS = (
    "Textbooks that answer. ask_book gives a short answer whose every sentence is proven by the book, with citations "
    "and the excerpts of the book that it rests on, or says that the book does not cover it; search_book gives the "
    "passages themselves. Add nothing of your own."
)
READS_ONLY = ToolAnnotations(read_only_hint=True, idempotent_hint=True, open_world_hint=False)

Asked = Annotated[str, Field(description="A question in plain English, such as: What is a costmap?")]
Selected = Annotated[str, Field(description="A passage that the question is about; empty: none.")]
Book = Annotated[str, Field(description="Slug of one book; empty: all books.")]


def book_server(answers: Answers, retrieve: Retrieval) -> MCPServer[Any]:
    """A server with the two tools."""
    server: MCPServer[Any] = MCPServer("lutrin", instructions=INSTRUCTIONS, version=__version__, log_level="ERROR")

    @server.tool(title="Search the book", annotations=READS_ONLY)
    async def search_book(
        question: Asked,
        selected_text: Selected = "",
        book: Book = "",
        top_k: Annotated[int, Field(ge=1, le=50, description="How many passages at most.")] = 5,
    ) -> list[dict[str, Any]]:
        """Passages of the book nearest to a question, best first, each with its place; empty if nothing is relevant."""
        query = Question(text=question, selected_text=selected_text, book=book, top_k=top_k)
        try:
            check_lengths(query)
            passages = await retrieve(query)
        except LutrinError as error:
            raise ToolError(error.detail) from error
        return [msgspec.to_builtins(RetrievedPassage.of(passage)) for passage in passages]

    @server.tool(title="Ask the book", annotations=READS_ONLY)
    async def ask_book(
        question: Asked,
        selected_text: Selected = "",
        book: Book = "",
        chapter: Annotated[str, Field(description="Search this chapter only; empty: the whole book.")] = "",
    ) -> dict[str, Any]:
        """A grounded answer in Markdown with numbered sources and the book's own words in `excerpts`.

        `kind` is `refusal` where the book does not say.
        """
        query = Question(text=question, selected_text=selected_text, book=book, chapter=chapter, wait_s=0.0)
        try:
            check_lengths(query)
            done = [event.answer async for event in answers.answer(query) if isinstance(event, DoneEvent)]
        except LutrinError as error:
            raise ToolError(error.detail) from error
        answer: dict[str, Any] = msgspec.to_builtins(done[-1])
        return answer

    return server
