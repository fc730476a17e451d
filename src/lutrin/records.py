"""The values that stages exchange: frozen, plain, comparable, serialisable by msgspec.

Offsets count characters of the source text: the file decoded as UTF-8 (for PDF: its extracted text), unchanged, so that
`source[char_start:char_end]` is what a reader sees in the file.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

import msgspec

UnitKind = Literal["sentence", "list_item", "table_row", "code", "caption"]
ContentType = Literal["text", "code", "table", "figure_caption"]
Mode = Literal["book", "selection", "selection_boosted"]
AnswerKind = Literal["generated", "extractive", "refusal"]
Refusal = Literal["out_of_scope", "not_in_book", "not_in_selection", "vague", "not_english", "empty"]
Role = Literal["user", "assistant"]
JobState = Literal["waiting", "running", "done", "failed"]
BookAct = Literal["rename", "hints", "hide", "show", "up", "down", "remove", "restore", "delete", "previous"]
Hints = Literal["", "off", "offered", "first"]
"""Empty: offered on the book's own exercises only."""
MARKDOWN = frozenset({".md", ".mdx", ".markdown"})
"""Suffixes of Markdown files, in lower case."""
OF_CONTENTS = frozenset({"out_of_scope", "not_in_book", None})
"""Refusals that tell something about the books' contents; None: an old answer without a reason."""
SupportGrade = Literal["stated", "likely", "own"]
"""Support of a sentence by the book: *stated* there; *likely*, though not word for word; the writer's *own*."""
TextRole = Literal[
    "text",
    "exercise",
    "solution",
    "quiz",
    "objectives",
    "assignment",
    "rubric",
    "summary",
    "references",
    "contents",
    "glossary",
    "warning",
]
"""The role of a passage in its book; `text` is the main text."""
NEVER_AN_ANSWER: frozenset[TextRole] = frozenset(
    {"exercise", "quiz", "objectives", "assignment", "rubric", "references", "contents"}
)
"""Roles that hold the words of a question but not its answer; quoted only if a reader asks for just that."""


class BookHazards(msgspec.Struct, frozen=True, kw_only=True):
    """Hazards that a book adds to Lutrin's own; the table `[hazards]` of its `book.toml`."""

    code: tuple[str, ...] = ()
    """Parts of code that moves, charges, heats or opens something, lower case: `my_arm.go`."""
    words: tuple[str, ...] = ()
    """Words of hazardous procedures, lower case: `centrifuge`."""


class BookInfo(msgspec.Struct, frozen=True, kw_only=True):
    """A book, as its `book.toml` or the operator describes it."""

    slug: str
    """Lower-case letters, digits and hyphens; names the book in folders, collections and requests."""
    title: str
    edition: str = ""
    version: str = "1"
    """Part of the collection's name, after the slug: `physical-ai-textbook-v1`."""
    language: str = "en"  # ISO 639-1
    hazards: BookHazards = BookHazards()


DRAWN = frozenset({"mermaid", "plantuml", "dot", "graphviz"})
"""Languages of figures; their source answers nothing."""


class Unit(msgspec.Struct, frozen=True, kw_only=True):
    """The smallest piece of a book that can be quoted: a sentence, list item, table row, code block or caption."""

    kind: UnitKind
    text: str
    """The visible text, without markup and zero-width characters; code is kept byte for byte, without its fence."""
    char_start: int
    char_end: int
    lead: str = ""
    """Context that the unit needs: a table's header row, or the introduction of a list or fence."""
    language: str = ""
    """For a code block: the first word of its info string."""
    block: int = 0
    """Ordinal of the paragraph, list, table or fence within its section; units of one block read on without a break."""
    warning: bool = False
    """Whether it is part of a safety warning (admonition `danger`, `warning` or `caution`)."""
    role: TextRole = "text"
    variant: str = ""
    """The name of the tab that holds it; empty if it applies to every reader."""
    label: str = ""
    """The number under which the book refers to it, as `lutrin.ingest.labels` writes it: `figure 2.1`."""
    cells: tuple[str, ...] = ()
    """Cells of a table row, if a bar inside one makes `text` ambiguous."""
    heads: tuple[str, ...] = ()
    """Cells of the header row in `lead`, for the same reason."""

    @property
    def row(self) -> list[str]:
        """The cells of a table row."""
        return list(self.cells) or cells_of(self.text)

    @property
    def header(self) -> list[str]:
        """The cells of the header above a table row."""
        return list(self.heads) or cells_of(self.lead)

    @property
    def asks(self) -> bool:
        """Whether it is one of the book's questions, which answer none."""
        return self.kind in {"sentence", "list_item"} and self.text.rstrip().endswith("?")

    @property
    def is_drawn(self) -> bool:
        """Whether it is the source of a figure, which readers see as a drawing."""
        return self.kind == "code" and self.language.lower() in DRAWN

    @property
    def with_heads(self) -> str:
        """A table row with the name of each column before its cell, so that a number stays with what it measures.

        >>> Unit(kind="table_row", text="GSV | 3 W", lead="Type | Power", char_start=0, char_end=9).with_heads
        'Type: GSV; Power: 3 W'
        """
        header, cells = self.header, self.row
        names = [*header, *[""] * (len(cells) - len(header))]
        return "; ".join(f"{name}: {cell}".strip(" :") for name, cell in zip(names, cells, strict=False) if cell)


def cells_of(row: str) -> list[str]:
    """The cells of a table row or header, joined by bars. The first cell of a header is often empty.

    >>> cells_of(" | Springs | Neaps")
    ['', 'Springs', 'Neaps']
    """
    return [cell.strip() for cell in f" {row} ".split(" | ")]


def bar_cells(cells: Sequence[str]) -> tuple[str, ...]:
    """The cells, if splitting their joined text would not restore them; otherwise none.

    >>> bar_cells(["`ls | wc -l`", "counts files"]), bar_cells(["Mule", "90 kg"])
    (('`ls | wc -l`', 'counts files'), ())
    """
    return () if cells_of(" | ".join(cells)) == list(cells) else tuple(cells)


class Section(msgspec.Struct, frozen=True, kw_only=True):
    """A heading and the text under it, up to the next heading of any level."""

    title: str
    level: int  # 1 to 6; the page's own title is 1
    heading_path: tuple[str, ...]
    """Titles from the page's title down to this one, this one included."""
    anchor: str  # fragment of the heading in the built page; empty for the page's own title
    units: tuple[Unit, ...]
    char_start: int
    char_end: int
    page: int | None = None
    """One-based page of a PDF where the section starts."""
    role: TextRole = "text"  # by its headings; a unit may have another one


class Notice(msgspec.Struct, frozen=True, kw_only=True):
    """A note for the author of a source file that was read."""

    filename: str
    message: str
    line: int | None = None


class MergeSummary(msgspec.Struct, frozen=True, kw_only=True):
    """The outcome of merging drafts into the companions beside books."""

    written: Mapping[Path, int]
    """Number of entries of each companion after the merge."""
    added: int = 0
    replaced: int = 0
    refused: tuple[Notice, ...] = ()
    """A notice for each entry that is not exact."""


class Document(msgspec.Struct, frozen=True, kw_only=True):
    """One source file, parsed."""

    filename: str
    """Path relative to the book's folder, with forward slashes."""
    title: str
    source: str
    """The whole text that offsets refer to."""
    sections: tuple[Section, ...]
    module: str = ""
    chapter: str = ""
    """The name that readers know: `Chapter 1: Embodied Intelligence`."""
    section: str = ""
    """Identifier from the file's name: `01-digital-vs-physical-ai`."""
    position: float | None = None
    """Position among its siblings (`sidebar_position`), if the author gave one."""
    keywords: tuple[str, ...] = ()
    description: str = ""
    is_simulation: bool | None = None
    page_starts: tuple[int, ...] = ()
    """For a PDF: the offset in `source` at which each page starts."""
    page_labels: tuple[str, ...] = ()
    """For a PDF: the label printed on each page (`iv`, `12`)."""
    recognized_pages: tuple[int, ...] = ()
    """One-based numbers of pages whose text comes from text recognition."""
    notices: tuple[Notice, ...] = ()


SELECTED = "selection"
"""Id of the passage made from a selection; its offsets count characters of the selected text."""


class Chunk(msgspec.Struct, frozen=True, kw_only=True):
    """A passage that search can find: a run of whole units of one section, of the length that suits the embedder."""

    chunk_id: str
    """UUIDv5 of book, file, heading path, content hash and ordinal."""
    text: str
    book: str
    """Slug of the book."""
    book_title: str
    edition: str
    module: str
    chapter: str
    section: str
    section_title: str
    heading_path: tuple[str, ...]
    filename: str
    page: int | None
    page_label: str
    anchor: str
    chunk_index: int
    """Ordinal within its file."""
    char_start: int
    char_end: int
    token_count: int
    """Tokens of the embedded text (heading path and text), counted by the embedding model's tokenizer."""
    content_type: ContentType
    is_simulation: bool | None
    content_hash: str
    """SHA-256, hexadecimal, of the text that is embedded."""
    units: tuple[Unit, ...]
    role: TextRole = "text"
    """The role of all its units: a chunk never mixes roles."""
    variant: str = ""
    """The variant of all its units: the tab, device or system that the chunk is for."""
    recognized: bool = False
    """Whether its text comes from text recognition, and may differ from the print."""

    @property
    def heading_key(self) -> tuple[str, tuple[str, ...], str]:
        """File, headings and address: equal for passages under the same heading."""
        return self.filename, self.heading_path, self.anchor

    def embedded_text(self) -> str:
        """The text as the embedding model sees it: the headings, a line break, then the passage."""
        return embedded_text(self.heading_path, self.text)

    def unit_spans(self) -> list[tuple[int, int]]:
        """Span of each unit in the embedded text; empty for a unit that is not found."""
        text, spans = self.embedded_text(), []
        end = len(text) - len(self.text)
        for unit in self.units:
            start = text.find(unit.text, end) if unit.text else -1
            end = start + len(unit.text) if start >= 0 else end
            spans.append((start, end) if start >= 0 else (end, end))
        return spans


def embedded_text(heading_path: tuple[str, ...], text: str) -> str:
    """Return the text to embed for a passage below its titles; they show what its pronouns refer to."""
    return f"{' > '.join(heading_path)}\n{text}"


class Passage(msgspec.Struct, frozen=True, kw_only=True):
    """A chunk that a search found, with its scores."""

    chunk: Chunk
    score: float
    """Relevance, 0 to 1; passages are ordered by it."""
    cosine: float | None = None
    """Cosine of question and chunk; None if the vector search did not return it."""
    lexical: float | None = None
    """BM25 of the lexical search, larger is better; None if it did not return it."""


class Message(msgspec.Struct, frozen=True, kw_only=True):
    """One turn of a chat prompt for a language model."""

    role: Literal["system", "user", "assistant"]
    content: str


class GenerationRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A request to the language model."""

    messages: tuple[Message, ...]
    """Stable parts first: requests with the same beginning compute it once."""
    max_tokens: int
    deadline_s: float
    """Seconds from now until the deadline; later tokens are useless."""
    session_id: str = ""
    peer: str = ""
    """Network address; peers, and the sessions of each, are served in turn."""
    stop: tuple[str, ...] = ()
    between: tuple[str, str] | None = None
    """Two words: the model writes nothing, and only reports which is the likelier answer (`Finished.odds`)."""
    stable_chars: int = 0
    """Length of the book's text at the start of the last message, in characters. It is encoded separately, so that its
    tokens are the same in every prompt about it."""


class Queued(msgspec.Struct, frozen=True, tag="queued"):
    """The request waits; `position` 1 is next, and `eta_s` estimates the seconds until its first sentence."""

    position: int
    eta_s: float


class Begun(msgspec.Struct, frozen=True, tag="begun"):
    """The model reads the request; `eta_s` estimates the seconds until its first sentence."""

    unread: int
    """Prompt tokens that it has not read before."""
    eta_s: float


class Piece(msgspec.Struct, frozen=True, tag="piece"):
    """Generated text as it arrives, always in complete characters."""

    text: str
    logprob: float | None = None
    """Log probability (natural) of its tokens together; None if the model does not report it."""


class Finished(msgspec.Struct, frozen=True, tag="finished"):
    """The last event of a generation."""

    reason: Literal["stop", "length", "deadline", "cancelled"]
    prompt_tokens: int
    tokens: int
    odds: float | None = None
    """Log odds (natural) of the first word of `GenerationRequest.between` against the second."""
    logprob: float | None = None
    """Mean log probability (natural) of the tokens; None if there are none, or the model does not report it."""
    head: float | None = None
    """Log odds of the model's head that the passage answers (`lutrin.generate.head`); None: it has none."""


GenerationEvent = Queued | Begun | Piece | Finished


class Forecast(msgspec.Struct, frozen=True):
    """How long a request would take if it were sent now, in seconds."""

    first_s: float
    """Seconds until the first sentence."""
    whole_s: float
    """Seconds until the last sentence."""
    each_s: float = 0.0
    """Seconds added by each further request at the same moment."""


class Check(msgspec.Struct, frozen=True):
    """A check of `lutrin doctor`."""

    name: str
    ok: bool
    detail: str
    remedy: str = ""


class ModelState(msgspec.Struct, frozen=True):
    """State of the language model, for pages and operators."""

    state: Literal["none", "arriving", "measuring", "ready", "away"] = "none"
    progress: str = ""
    """A line for people: current progress, or why there is no model."""


class InlineCode(msgspec.Struct, frozen=True, tag="code", tag_field="type"):
    """Code within a line."""

    text: str


class Formula(msgspec.Struct, frozen=True, tag="math", tag_field="type"):
    """A formula in TeX, without the signs around it; `display`: on a line of its own."""

    tex: str
    display: bool


class Picture(msgspec.Struct, frozen=True, tag="image", tag_field="type"):
    """A picture, by its description; its address is not sent."""

    alt: str


class Marker(msgspec.Struct, frozen=True, tag="cite", tag_field="type"):
    """The number of a source in an answer, `[1]`."""

    n: int


class LineBreak(msgspec.Struct, frozen=True, tag="break", tag_field="type"):
    """The end of a line that its author wants."""


class Strong(msgspec.Struct, frozen=True, tag="strong", tag_field="type"):
    """Strong importance."""

    children: "tuple[Inline, ...]"


class Emphasis(msgspec.Struct, frozen=True, tag="em", tag_field="type"):
    """Stress."""

    children: "tuple[Inline, ...]"


class Deletion(msgspec.Struct, frozen=True, tag="del", tag_field="type"):
    """Words struck out by their author."""

    children: "tuple[Inline, ...]"


class Mark(msgspec.Struct, frozen=True, tag="mark", tag_field="type"):
    """Words that answer."""

    children: "tuple[Inline, ...]"


class Link(msgspec.Struct, frozen=True, tag="link", tag_field="type"):
    """A link to an absolute address of the web or of mail."""

    href: str
    children: "tuple[Inline, ...]"


Inline = str | InlineCode | Formula | Picture | Marker | LineBreak | Strong | Emphasis | Deletion | Mark | Link
"""A piece of a line; plain text is a string."""


class Paragraph(msgspec.Struct, frozen=True, tag="paragraph", tag_field="type"):
    """Running text."""

    children: tuple[Inline, ...]


class Heading(msgspec.Struct, frozen=True, tag="heading", tag_field="type"):
    """A heading, of any level."""

    children: tuple[Inline, ...]


class CodeBlock(msgspec.Struct, frozen=True, tag="code", tag_field="type"):
    """Code on lines of its own: text, and marks with text."""

    children: tuple[Inline, ...]
    language: str


class Quotation(msgspec.Struct, frozen=True, tag="quote", tag_field="type"):
    """A quotation, or a box, which begins with its title."""

    blocks: "tuple[Block, ...]"


class ListItem(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An item of a list."""

    number: int | None = None
    """None: a bullet."""
    checked: bool | None = None
    """Of a task: whether it is done; None: it is no task."""
    blocks: "tuple[Block, ...]"


class Listing(msgspec.Struct, frozen=True, tag="list", tag_field="type"):
    """A list."""

    items: tuple[ListItem, ...]


class Table(msgspec.Struct, frozen=True, tag="table", tag_field="type"):
    """A table; `header` is empty if it has none."""

    header: tuple[tuple[Inline, ...], ...]
    rows: tuple[tuple[tuple[Inline, ...], ...], ...]


class Rule(msgspec.Struct, frozen=True, tag="rule", tag_field="type"):
    """A horizontal line."""


Block = Paragraph | Heading | CodeBlock | Quotation | Listing | Table | Rule
"""A part of a text; it holds no HTML, so whoever draws it needs no sanitiser."""
Blocks = tuple[Block, ...] | msgspec.UnsetType
"""What a text consists of, for a client that asks for it (`blocks=true`); never stored."""


class Citation(msgspec.Struct, frozen=True, kw_only=True):
    """A source of an answer; `n` is its number in the text, `[n]`."""

    n: int
    chunk_id: str
    book: str
    book_title: str = ""
    chapter: str
    section: str
    section_title: str
    filename: str
    page: int | None
    page_label: str = ""
    """The number printed on that page (`iv`, `12`); empty if the file has no pages."""
    url: str
    """Path of the reader's page that holds the heading, with its fragment."""
    quote: str
    """An exact substring of the source file's text."""
    relevance_score: float
    """In (0, 1]: a cited source never scores 0."""
    blocks: Blocks = msgspec.UNSET
    """Of `quote`."""


class Excerpt(msgspec.Struct, frozen=True, kw_only=True):
    """A contiguous passage of the book that answers."""

    n: int
    """Number of its citation."""
    text: str
    """An exact substring of the source file's text."""
    marks: tuple[tuple[int, int], ...]
    """The words that answer: start and end offsets in `text`, in order, not overlapping."""
    cut_before: bool
    """Whether its paragraph, list, table or code begins earlier."""
    cut_after: bool
    """Whether its paragraph, list, table or code continues after it."""
    heading_path: tuple[str, ...]
    """Titles from the page's title down to the heading above it."""
    url: str
    """Path of the reader's page that holds the heading, with its fragment; empty for words outside the book."""
    chunk_id: str
    header: tuple[str, ...] = ()
    """Cells of the header above its first row, if it begins within a table."""
    blocks: Blocks = msgspec.UNSET
    """Of `text`."""


class Sentence(msgspec.Struct, frozen=True, kw_only=True):
    """A sentence of an answer, with its support by the book."""

    text: str
    """Markdown without citation markers; a sentence of the book may also be a table row, a step or a block of code."""
    citations: tuple[int, ...] = ()
    """Numbers of the sources that prove it, or that readers can compare it with."""
    support: SupportGrade = "stated"
    blocks: Blocks = msgspec.UNSET
    """Of `text`."""


class AnswerParts(msgspec.Struct, frozen=True, kw_only=True):
    """The parts of an answer besides its text, sent with it and stored with its message."""

    refusal: Refusal | None = None
    explanation: str = ""
    """Text before the excerpts, for a page that shows these separately; empty if `answer` is to be shown whole."""
    sentences: tuple[Sentence, ...] = ()
    """The explanation by sentences; empty for a refusal, and for an explanation prepared in one piece."""
    excerpts: tuple[Excerpt, ...] = ()
    """The book's words; empty for a refusal."""
    closest: bool = False
    """Whether the excerpts are only the closest passage, which may not answer."""
    meant: str = ""
    """A prepared question that the reader may mean, to be offered first; empty if none."""
    suggestions: tuple[str, ...] = ()
    """For a refusal or a closest passage, topics of the book; else up to three questions that it can answer next."""
    warnings: tuple[str, ...] = ()
    prepared_by: str = ""
    """The author of a prepared explanation: the authors, a name or `model@date`; empty if none was prepared."""
    plain_words: tuple[Sentence, ...] = ()
    """Sentences of a model's explanation below the book's answer."""
    confirmed: bool = False
    """Whether the model judges that the closest passage does answer."""
    explainable: bool = False
    """Whether the same question with `explain` gets an explanation, or a second look after a refusal."""
    eta_s: float | None = None
    """Estimated seconds until that explanation begins; None: unknown, or none is offered."""
    unfinished: bool = False
    """Whether this was stored before the model had finished; a page asks for the rest, or says that it was cut."""
    blocks: Blocks = msgspec.UNSET
    """Of the whole answer."""
    explanation_blocks: Blocks = msgspec.UNSET
    """Of `explanation`."""

    def parts(self) -> dict[str, Any]:
        """These parts by name."""
        return {name: getattr(self, name) for name in AnswerParts.__struct_fields__}


class Answer(AnswerParts, frozen=True, kw_only=True):
    """An answer as a reader gets it."""

    answer: str
    """The whole answer in Markdown with `[n]` markers: the explanation, then the book's words."""
    sources: tuple[Citation, ...]
    """The sources that are cited, and no others."""
    mode: Mode
    kind: AnswerKind
    model_used: str
    latency_ms: int
    generation: str
    """Name of the index generation that answered."""
    is_cut: bool = False  # the explanation ends because it reached the requested length


class Question(msgspec.Struct, frozen=True, kw_only=True):
    """A reader's question."""

    text: str
    selected_text: str = ""
    mode: Mode | None = None
    """None: `selection_boosted` if text is selected, else `book`."""
    book: str = ""  # slug; empty: the only book, or all of them
    chapter: str = ""
    module: str = ""
    page: str = ""
    """The page that the reader has open: its file name, or the path of its address; empty if unknown."""
    top_k: int | None = None
    session_id: str = ""
    wait_s: float | None = None
    """Seconds to wait for an explanation; 0: the book's answer is enough; None: explain if the explanation is likely to
    begin within `LUTRIN_LIVE_S`."""
    whole: bool = False
    """Whether the answer is sent only when complete, so that the model can take part in deciding whether the book
    answers."""
    explain: bool = False  # the reader asks for an explanation of what was found, and queues for it
    answer_tokens: int | None = None
    earlier: tuple[Message, ...] = ()
    """Earlier turns, oldest first, if the client keeps the conversation."""
    peer: str = ""
    """Network address of the reader, for fair turns; never stored."""
    kept_as: tuple[str, ...] = ()  # ids of its own message and its answer's, which may be stored in part already
    surface: Literal["query", "tutor", "chat"] = "query"
    """The endpoint, which decides the wording of refusals: `/api/query`, the `/query` family or `/chat`."""


class Certainty(msgspec.Struct, frozen=True, kw_only=True):
    """The certainty of an answer; stored encrypted, shown only to the teacher."""

    searched: str = ""
    """The search text: the question, completed from the conversation."""
    odds: float = 0.0
    """The reader's log odds that the book answers."""
    yes: float | None = None
    """Log odds of the model that the passage answers; None if it was not asked, or not in time."""
    head: float | None = None
    """Log odds of the model's head that the passage answers; None if it has none, or was not asked."""


class QueuedEvent(msgspec.Struct, frozen=True, tag="queued", tag_field="type"):
    """The explanation waits: the model is busy with other readers."""

    position: int
    eta_s: float


class WorkingEvent(msgspec.Struct, frozen=True, tag="working", tag_field="type"):
    """The model works on the explanation."""

    what: Literal["reading", "writing"]
    eta_s: float | None = None
    """Estimated seconds until the first sentence, or until the last one while the model writes; None: unknown."""


class SourcesEvent(msgspec.Struct, frozen=True, tag="sources", tag_field="type"):
    """The passages that the answer is based on."""

    citations: tuple[Citation, ...]


class ExcerptEvent(msgspec.Struct, frozen=True, tag="excerpt", tag_field="type"):
    """A passage of the book that answers, sent before any generated text."""

    excerpt: Excerpt


class BookAnswerEvent(msgspec.Struct, frozen=True, tag="answer", tag_field="type"):
    """The complete and final answer of the book; a model's explanation follows below it."""

    answer: Answer
    made: Certainty | None = None
    """The certainty, as in `DoneEvent`."""


class SentenceEvent(msgspec.Struct, frozen=True, tag="sentence", tag_field="type"):
    """A `Sentence` of a model: shown below the book's answer, or above it if sent before it."""

    text: str
    citations: tuple[int, ...]
    support: SupportGrade = "stated"
    blocks: Blocks = msgspec.UNSET
    """Of `text`."""


class DoneEvent(msgspec.Struct, frozen=True, tag="done", tag_field="type"):
    """The whole answer: the book's, unchanged, with the model's explanation."""

    answer: Answer
    made: Certainty | None = None
    """For the stored conversation; not sent to readers."""


class ErrorEvent(msgspec.Struct, frozen=True, tag="error", tag_field="type"):
    """The answer failed; no event follows."""

    detail: str


AnswerEvent = (
    QueuedEvent | WorkingEvent | SourcesEvent | ExcerptEvent | BookAnswerEvent | SentenceEvent | DoneEvent | ErrorEvent
)


class ChatMessage(AnswerParts, frozen=True, kw_only=True):
    """One stored message of a conversation."""

    id: str
    session_id: str
    role: Role
    text: str
    created: str
    """ISO 8601, UTC."""
    mode: Mode | None = None
    kind: AnswerKind | None = None
    selected_text: str = ""
    chunk_ids: tuple[str, ...] = ()
    citations: tuple[Citation, ...] = ()


class KeptMessage(ChatMessage, frozen=True, kw_only=True):
    """A stored message with details that only the operator sees."""

    made: Certainty | None = None
    """For an answer: its certainty."""


class ChatOrigin(msgspec.Struct, frozen=True, kw_only=True):
    """Origin of a conversation, stored with its first message."""

    session_id: str
    """The id that the browser made."""
    owner: str = ""
    """Hash of the browser's secret; empty: anyone who knows the id may read it."""
    user_agent: str = ""
    book: str = ""
    generation: str = ""
    """Name of the index generation of the last answer: the version of the book."""


class ChatSession(msgspec.Struct, frozen=True, kw_only=True):
    """One conversation in the list of a browser's conversations."""

    id: str
    title: str
    """The reader's own name for it, or else the beginning of the first question."""
    created: str
    """ISO 8601, UTC."""
    updated: str
    book: str
    generation: str
    message_count: int


class LeftOut(msgspec.Struct, frozen=True):
    """A file or folder that no book contains, with the reason."""

    filename: str
    """Relative to the book's folder, or to the corpus if it belongs to no book."""
    reason: str
    book: str = ""
    """Slug of the book; empty if the file belongs to no book."""

    def line(self) -> str:
        """`robots/notes.odt: is a .odt file ...`."""
        return f"{self.book}{'/' if self.book else ''}{self.filename}: {self.reason}"


class BookChoice(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A teacher's choices for a book; empty fields keep the book's own."""

    title: str = ""
    line: str = ""
    """Line about its subject, for its card on the shelf."""
    hints: Hints = ""
    """Whether pupils get a hint before an answer; a pupil's own choice overrides it."""
    hidden: bool = False
    """Whether it is off the shelf and not searched, until it is shown again."""
    removed: str = ""
    """Time of its removal, ISO 8601, UTC; a removed book is not read until it is restored or deleted."""
    called: str = ""
    """Title of a removed book, which the catalogue may no longer contain."""

    @property
    def is_off(self) -> bool:
        """Whether readers do not see it."""
        return self.hidden or bool(self.removed)


class BookRow(msgspec.Struct, frozen=True, kw_only=True):
    """A book in the teacher's list."""

    slug: str
    title: str
    own_title: str
    """The title in its files."""
    choice: BookChoice
    generation: str = ""
    """Name of its current index; empty if it no longer has one."""
    previous: str = ""
    read: datetime | None = None
    """Time of its current index, UTC; None if the index cannot be read."""
    files: int = 0
    edition: str = ""
    left_out: tuple[LeftOut, ...] = ()
    is_missing: bool = False
    """Whether its files are missing; readers continue to use its index."""


class ShelvedBook(msgspec.Struct, frozen=True):
    """A book on the shelf."""

    slug: str
    title: str
    edition: str
    generation: str
    line: str = ""
    """Its first one or two sentences; empty if it does not begin with text."""
    chapters: int = 0
    pages: int = 0
    hints: str = ""
    """The teacher's choice (`Hints`)."""


class PageEntry(msgspec.Struct, frozen=True):
    """A page in a book's table of contents."""

    filename: str
    title: str
    module: str = ""
    chapter: str = ""
    chapters: tuple[tuple[str, str], ...] = ()
    """Anchor and name of each chapter, for a file with several."""


class Job(msgspec.Struct, frozen=True, kw_only=True):
    """An ingestion with its progress."""

    job: str
    state: JobState
    """`waiting`: another one is running."""
    progress: list[str]
    """Its newest lines, at most 200."""
    summary: Mapping[str, int | float | str] | None = None
    detail: str | None = None
    """Reason of its failure."""


def question_key(question: str) -> str:
    """A key that is equal for questions with the same words, ignoring case, blanks and final punctuation."""
    return " ".join(question.split()).casefold().rstrip("?!. ")


class AskedQuestion(msgspec.Struct, frozen=True, kw_only=True):
    """A question of a reader, with its outcome."""

    text: str
    created: str
    """Time of the answer: ISO 8601, UTC."""
    kind: AnswerKind | None
    book: str = ""
    """Slug of the first cited book; empty if none was cited."""
    chapter: str = ""
    """Chapter of the first citation."""
    filename: str = ""
    """First cited file."""
    thumb: str = ""
    """`up`, `down`, or empty."""
    comment: str = ""
    searched: str = ""
    """The question, completed from its conversation; empty if unknown."""
    answer: str = ""
    """The explanation that the reader got, or the whole text without one."""
    refusal: Refusal | None = None
    closest: bool = False
    """Whether only the closest passage was shown."""
    prepared_by: str = ""
    odds: float | None = None
    """Log odds that the book answers it; None: unknown, or certain."""
    yes: float | None = None
    """Log odds of the model for the same; None if it was not asked."""
    head: float | None = None
    """Log odds of the model's head for the same; None if it has none, or was not asked."""
    chunk_ids: tuple[str, ...] = ()
    """Ids of the cited passages."""
    again: bool = False
    """Whether the same reader later repeated it in the same words."""

    @property
    def key(self) -> str:
        """See `question_key`."""
        return question_key(self.searched or self.text)


class StoredAssignment(msgspec.Struct, frozen=True, kw_only=True):
    """A stored assignment with its counts."""

    id: str
    created: str
    """ISO 8601, UTC."""
    body: str
    """Its contents as JSON."""
    opened: int
    """Number of browsers that opened it."""
    finished: int
    """Number of browsers that finished it."""


class CardCount(msgspec.Struct, frozen=True, kw_only=True):
    """Counts of a card: how often it was answered, and how often the answer was not known."""

    tries: int
    missed: int


class Uploaded(msgspec.Struct, frozen=True, kw_only=True):
    """The outcome of an upload, and the job that reads the files."""

    book: str
    """Name of the book's folder in the corpus, or of the first one if there are several."""
    books: list[str]
    """Names of all created folders: one, or one for each file."""
    stored: int
    left_out: list[LeftOut]
    job: Job


class ServerCounts(msgspec.Struct, frozen=True, kw_only=True):
    """Counts of a server since its start."""

    kinds: Mapping[str, int]
    """Answers by their kind."""
    outcomes: Mapping[str, int]
    """Questions by outcome: `done`, `cancelled`, or the failure."""
    limited: int
    """Questions refused by a rate limit."""
    within: Mapping[str, tuple[tuple[float, int], ...]]
    """By stage of an answer: upper bounds in seconds, up to infinity, with the number of answers within each."""


class ServerLoad(msgspec.Struct, frozen=True, kw_only=True):
    """Current load of a server."""

    readers: int
    """Number of readers who asked in the last five minutes."""
    running: int
    """Number of answers in progress."""
    waiting: int
    """Number of readers waiting for the model."""
    progress: str = ""
    """Notice of a ready model; empty if it has none."""


class ModelRow(msgspec.Struct, frozen=True, kw_only=True):
    """A model of the manifest, with the state of its files on this machine."""

    name: str
    role: Literal["embed", "generate", "rerank"]
    tier: str
    size: int
    """Bytes."""
    state: Literal["present", "incomplete", "missing"]
    in_use: bool
