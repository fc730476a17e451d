"""A book of two pages and answers from it, made by hand."""

from lutrin.records import Answer, AnswerKind, Chunk, Citation, Passage, Refusal, Unit

ARM = "# Arm\n\nThe **elbow** joint turns 140 degrees. It weighs 1,200 g and never overheats.\n"
LEG = "# Leg\n\nThe knee gives 68 N·m for 20 s.\n\n```python\nleg.hold(angle=0.5)\n```\n"
SOURCES = {("robots", "ch1/arm.md"): ARM, ("robots", "ch2/leg.md"): LEG}


def chunk(filename: str, text: str, *, title: str = "Arm") -> Chunk:
    """A chunk whose id is its file's name."""
    unit = Unit(kind="sentence", text=text, char_start=0, char_end=len(text))
    return Chunk(
        chunk_id=filename,
        text=text,
        book="robots",
        book_title="Robots",
        edition="1",
        module="",
        chapter="",
        section="",
        section_title=title,
        heading_path=(title,),
        filename=filename,
        page=None,
        page_label="",
        anchor="",
        chunk_index=0,
        char_start=0,
        char_end=len(text),
        token_count=1,
        content_type="text",
        is_simulation=None,
        content_hash="",
        units=(unit,),
    )


ARM_CHUNK = chunk("ch1/arm.md", "The elbow joint turns 140 degrees. It weighs 1,200 g and never overheats.")
LEG_CHUNK = chunk("ch2/leg.md", "The knee gives 68 N·m for 20 s.\nleg.hold(angle=0.5)", title="Leg")


def passages(*chunks: Chunk) -> list[Passage]:
    """Passages in this order."""
    return [Passage(chunk=item, score=1.0) for item in chunks]


def citation(n: int, cited: Chunk, quote: str, *, url: str = "/read/robots/page") -> Citation:
    """A source of an answer."""
    return Citation(
        n=n,
        chunk_id=cited.chunk_id,
        book=cited.book,
        chapter="",
        section="",
        section_title=cited.section_title,
        filename=cited.filename,
        page=None,
        url=url,
        quote=quote,
        relevance_score=1.0,
    )


def answer(
    text: str, *sources: Citation, kind: AnswerKind = "extractive", refusal: Refusal | None = None, latency_ms: int = 1
) -> Answer:
    """An answer with these sources."""
    return Answer(
        answer=text,
        sources=sources,
        mode="book",
        kind="refusal" if refusal else kind,
        refusal=refusal,
        suggestions=(),
        warnings=(),
        model_used="none",
        latency_ms=latency_ms,
        generation="1",
    )
