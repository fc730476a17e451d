"""Understands a question once: later stages read the `Query` and never parse the question again."""

import re
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise
from typing import Literal, cast, get_args

import msgspec
import numpy as np

from lutrin import messages
from lutrin.errors import InvalidQuestion
from lutrin.language import lexicon
from lutrin.language.gate import LanguageGate
from lutrin.language.words import REMEMBERED, name_spans, subject_stems, subject_words, topic_stems, topic_words, words
from lutrin.ports import Embedder, Encode, likeness
from lutrin.query.conversation import Completion, Context, complete_question, goes_on, refers
from lutrin.query.frames import About, Frame, Framed, NamedChapter, asks, frame_of, is_courtesy, named_chapters
from lutrin.query.respell import Vocabulary, respell, with_spaces
from lutrin.records import ChatMessage, Mode, Question, Refusal

_JOINT = lexicon.pattern("joint")
MAX_PARTS = 3
MAX_WORDS = 500
MAX_SEARCHED_TOKENS = 200
"""Tokens of a question that are searched for: some 150 words. Each further one costs as much."""
LONG_TOKEN_CHARS = 16
"""A text whose tokens are this short, on average, is not read beyond those that are searched for."""
MAX_SELECTION_TOKENS = 2000
PHRASE_WORDS = 8
"""A selection of at most this many words names a thing; a longer one is a statement."""
_NAMING = re.compile(r"[\w .'\u2019/-]+")
"""Matches a name; code has other characters."""
_UNSEEN = re.compile("[\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_SENTENCE_END = re.compile(r"(?<![.!?…])[.!?…]++[\"'”’)\]]*+(?=\s)|\n\s*\n")
_ORDINARY = re.compile(
    r"(?<![^\s(\"'\u201c\u2018])(?:[AI]|[^\W\d_]{2,}+(?:['\u2019-][^\W\d_]++)*+)(?=[.,;:!?)\"'\u201d\u2019]*(?:\s|$))"
)
"""A word of letters alone between blanks and punctuation: not part of a name from code, a path or a formula, nor an
initial."""
_FROM_CODE = re.compile(r"[^\W\d_]*[a-z][A-Z]")
"""Capitals within a word make it a name from code: goToPose."""
_FINAL = re.compile(r"(?<![\s.?!\u2026])[\s.?!\u2026]++$")
_SENTENCE_BREAK = re.compile(r"[.?!]\s+")
_OPENS_QUESTION = re.compile(
    r"(?:what|which|who|whose|whom|when|where|why|how|is|are|was|were|do|does|did|can|could|should|must|may|might|will"
    r"|would|has|have|had|am)\b"
)


_REQUESTS = {text: cast("Frame", wish) for wish in get_args(Frame) for text in lexicon.REQUESTS.get(wish, ())}
WISHES: frozenset[Frame] = frozenset({"more", "simpler", "proof", "other"})
ALIKE = 0.34
"""Cosine above which a follow-up counts as a plain request; a less similar one asks something else."""
ALIKE_LONG_NAME = 0.5
"""Cosine above which a question about an abbreviation asks what it stands for, and not one of the questions under
`otherwise`. It accepts 27 of 31 such questions and 2 of 52 others."""
_ABBREVIATION = re.compile(r"\b[A-Z][a-z]?[A-Z0-9]{1,5}\b")


def parts_of(topic: str) -> tuple[str, ...]:
    """Return the parts of a topic, each understandable alone; the topic itself if it is one thing.

    >>> parts_of("How good is the camera, and what does it cost?")
    ('How good is the camera', 'camera – what does it cost?')
    """
    parts = [part.strip(" ,") for part in _JOINT.split(topic) if part.strip(" ,?")]
    if not 2 <= len(parts) <= MAX_PARTS or not all(topic_words(part) and _has(part, lexicon.ASKING) for part in parts):
        return (topic,)
    # "How hot and for how long does it boil?" asks two things about one subject, which comes last.
    if len(topic_stems(parts[0])) < 2 and not _has(parts[0], lexicon.SAYING):
        return (topic,)
    return (parts[0], *(completed_half(parts[0], part) for part in parts[1:]))


def completed_half(first: str, part: str) -> str:
    """Put the names of the first part before a part that says too little on its own."""
    names = " ".join(subject_words(first) or topic_words(first))
    return f"{names} – {part}" if _leans(part) else part


def _has(part: str, vocabulary: frozenset[str]) -> bool:
    return any(word.lower() in vocabulary for word in words(part))


def _leans(part: str) -> bool:
    """Whether a part says too little on its own: "... and what for the shock?"."""
    return len(topic_stems(part)) < 2 or _has(part, lexicon.REFERENCES)


Pointing = Literal["page", "terms", "commands", "table", "code", "figure", "here", "perhaps", "none"]
"""Targets that a question may point at on the open page: all of it, its terms, something on it; `perhaps`: it may point
there, if the book has no answer; `none`: no target."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Query(Context):
    """An understood question: subject, form, parts and context."""

    question: Question
    """The question as the client sent it."""
    typed: str
    """One line, without control and zero-width characters, at most 500 words."""
    text: str
    """The text, completed from the conversation."""
    topic: str
    """The searched text: `text` without the words about the form of the answer."""
    parts: tuple[str, ...]
    """One topic for each thing that is asked, each understandable alone."""
    page: str
    """Filename of the page that the reader is on; empty if unknown."""
    own: Framed
    """The typed text, read by itself; `frame`, `topic` and `about` belong to the completed question."""
    frame: Frame = "plain"
    about: About | None = None
    selected_text: str = ""
    """The selection, at most 2,000 tokens; empty if nothing usable is selected."""
    mode: Mode = "book"
    added: str = ""
    """The topic that a follow-up adds to the previous question; empty if it stands alone."""
    leans: bool = False
    """Whether the question can be understood only with the selection: "Why is that?"."""
    whole_chapter: bool = False
    """Whether the question only asks for a form of the chapter that it names: "Summarise chapter 3"."""
    warnings: tuple[str, ...] = ()
    refusal: Refusal | None = None
    within: str = ""
    """Filename of the page that "this page" means; empty for the whole book."""
    pointing: Pointing = "none"
    """The part of that page that the question points at."""
    leaning: "Query | None" = None
    """The same question read as a follow-up, where its words do not decide: the book does."""

    @property
    def key(self) -> tuple[Hashable, ...]:
        """Everything in the query that determines its answer, besides books, settings and the history a model sees.

        Reader and conversation are left out: `text` contains what the conversation adds.
        """
        question = self.question
        where = (question.book, question.chapter, question.module, question.top_k)
        how = (question.surface, question.answer_tokens, question.whole and bool(question.wait_s))
        text = (normalize(self.text), normalize(self.added), *self.answers, *map(normalize, self.parts))
        rest = (self.mode, self.frame, self.selected_text, self.page, self.follows, self.warnings)
        return (*text, *rest, *where, *how, self.leaning.key if self.leaning is not None else ())

    @property
    def stems(self) -> frozenset[str]:
        """Stems of the topic's words that carry its subject."""
        return topic_stems(self.topic)

    @property
    def name_stems(self) -> frozenset[str]:
        """Stems of the words that name something; empty if the question names nothing."""
        return subject_stems(self.topic)

    @property
    def sides(self) -> tuple[tuple[int, int], tuple[int, int]] | None:
        """Spans of the first two names that the topic joins, or compares; None if it has no two."""
        return sides_of(self.topic, compares=self.frame == "compare")

    @property
    def goes_on(self) -> bool:
        """Whether it opens as a continuation: "And on a Jetson?"."""
        return goes_on(self.typed)

    @property
    def chapters(self) -> Iterator[tuple[NamedChapter, str]]:
        """The chapters that it names, each with the rest of the topic; empty if that names no subject."""
        for named in named_chapters(self.text):
            rest = " ".join(named.phrase.sub(" ", self.topic).split())
            yield named, rest if topic_stems(rest) else ""

    @property
    def sums_chapter(self) -> bool:
        """Whether it asks for a summary of a whole chapter."""
        return self.whole_chapter and self.frame == "summary"

    @property
    def is_bare(self) -> bool:
        """Whether it leans on the previous answer and names nothing of its own: "Why?", "Tell me more"."""
        return bool(self.subject) and not self.added

    @property
    def is_more(self) -> bool:
        """Whether it asks for more than the previous answer said: "Tell me more"."""
        return self.is_bare and self.frame in {"more", "simpler", "other"}


async def understand_for(
    books: Sequence[Vocabulary],
    question: Question,
    *,
    history: Sequence[ChatMessage],
    language: LanguageGate,
    embedder: Embedder,
    encode: Encode,
) -> Query:
    """Understand a question about some books: split words typed together by their vocabulary, and compare meanings.

    The vectors tell what a question wishes, and what it puts in the place of a name in the previous one.

    Raises:
        InvalidQuestion: It is empty.
        IndexUnavailable: A book cannot be read.
    """
    spaced = msgspec.structs.replace(question, text=await with_spaces(books, question.text, embedder))
    query = await with_wish(understand(spaced, history=history, language=language, embedder=embedder), encode)
    query = await in_its_place(query, encode)
    return replace(query, leaning=await with_wish(query.leaning, encode)) if query.leaning is not None else query


def understand(
    question: Question, *, history: Sequence[ChatMessage], language: LanguageGate, embedder: Embedder
) -> Query:
    """Understand a question.

    Raises:
        InvalidQuestion: It is empty.
    """
    typed, warnings = _clean(question.text)
    selected, mode, notes = _selection(question, embedder)
    own = frame_of(typed)
    base = Query(
        question=question, typed=typed, text=typed, topic=own.topic or typed, parts=(), page=question.page, own=own,
        frame=own.frame, about=own.about, selected_text=selected, mode=mode, warnings=warnings + notes,
    )  # fmt: skip
    completion = Completion(text=typed, lacks=not topic_stems(own.topic))
    phrase = " ".join(selected.split())
    is_named = mode == "selection_boosted" and is_name(phrase)
    if is_named and refers(own.topic):
        # With the name inserted, it is a question like any other.
        selected = ""
        base = replace(base, selected_text="")
        completion = Completion(text=of_phrase(typed, phrase))
    elif not selected and own.frame != "about":
        completion = complete_question(typed, history, own)
    query = _completed(base, completion, embedder)
    if not language.accepts(typed):
        return replace(query, refusal="not_english")
    is_alone = completion.lacks and own.frame != "about" and not selected and not question.page
    if is_courtesy(typed) or is_alone:
        return replace(query, refusal="vague")
    leaning = _completed(base, completion.leaning, embedder) if completion.leaning is not None else None
    if is_named and selected and topic_stems(query.topic):
        # "What are the alternatives?" may refer to the selection.
        topic = of_phrase(query.topic, phrase)
        leaning = replace(query, topic=topic, parts=(topic,), leans=True)
    return replace(query, leaning=leaning, added=query.added if not is_named else "")


def _completed(base: Query, completion: Completion, embedder: Embedder) -> Query:
    """Add the parts of the conversation that a question leans on."""
    typed, selected, frame, about = base.typed, base.selected_text, base.frame, base.about
    frame = completion.form if frame == "plain" else frame
    topic = added = base.own.topic
    if completion.text != typed:
        whole, topic, about = frame_of(completion.text)
        # "And the LED?" takes the form of the previous question.
        frame = whole if frame == "plain" else frame
    else:
        added = ""
    topic, added = (first_tokens(text, embedder) for text in (topic or completion.text, added))
    leans = bool(selected) and (not topic_stems(topic) or refers(topic))
    if leans and topic_stems(topic) and len(words(selected)) <= PHRASE_WORDS:
        topic = of_phrase(topic, " ".join(selected.split()))
    topic = topic_of(frame, topic)
    return replace(
        base,
        text=completion.text,
        topic=topic,
        frame=frame,
        about=about,
        parts=(topic,) if frame in {"about", "compare", "compute"} else parts_of(topic),
        follows=completion.follows,
        added=added if topic_stems(added) else "",
        subject=completion.subject,
        base=completion.base,
        quotes=completion.quotes,
        answers=completion.answers,
        leans=leans,
    )


def topic_of(frame: Frame, topic: str) -> str:
    """The search text for a subject in a form that a book may have.

    >>> topic_of("example", "ownership"), topic_of("simpler", "ownership")
    ('an example of ownership', 'ownership')
    """
    return lexicon.WISHED_TOPICS.get(frame, "{}").replace("{}", topic)


async def with_wish(query: Query, encode: Encode) -> Query:
    """Recognise what a question wants by its similarity to plain requests.

    A follow-up without a subject or form of its own is compared with one plain request of each kind, and takes that
    wish as its frame if it is one of `WISHES`. A question about an abbreviation's long form is rewritten in the usual
    words: "What is the full form of ABS?" becomes "What does ABS mean?".
    """

    async def nearest(text: str, others: Sequence[str]) -> tuple[int, float]:
        cosines = await likeness(encode, text, others)
        return int(cosines.argmax()), float(cosines.max())

    frame, topic, _ = query.own
    if frame not in {"plain", "definition"}:
        return query
    names = set(_ABBREVIATION.findall(topic))
    if len(names) == 1 and not query.subject and not query.selected_text:
        (name,) = names
        long_name, otherwise = lexicon.REQUESTS["long_name"], lexicon.REQUESTS["otherwise"]
        template = re.sub(rf"\b(?:(?i:an?|the) )?{name}\b", "it", topic)
        place, cosine = await nearest(template, [*long_name, *otherwise])
        if cosine >= ALIKE_LONG_NAME and place < len(long_name):
            meaning = messages.MEANING_QUESTION.format(name=name)
            return replace(query, topic=meaning, parts=(meaning,), frame="definition")
    if not query.subject or subject_stems(topic):
        return query
    place, cosine = await nearest(query.typed, list(_REQUESTS))
    wish = list(_REQUESTS.values())[place]
    is_wish = wish in WISHES and cosine >= ALIKE
    return replace(query, frame=wish, added="") if is_wish else replace(query, frame=frame)


async def in_its_place(query: Query, encode: Encode) -> Query:
    """Rewrite a follow-up that consists of a name as the previous question about that name; leave others unchanged.

    The counterpart of "TPU" in "Why is dynamic padding good on a GPU?" is the words whose vectors are most similar.
    After the swap, "And on a TPU?" stands alone and is read like any other question.
    """
    name, is_kind = name_in(query.typed)
    if not name or not query.base or not query.subject or query.selected_text:
        return query
    spans = name_spans(query.base)
    if is_kind:
        spans = [(start, end) for start, end in spans if len(query.base[start:end].split()) > 1]
    if not spans:
        return query
    texts = [query.base[start:end] for start, end in spans]
    asked = [f"{name} {text.split()[-1]}" if is_kind else name for text in texts]
    encoded = np.array([one.pooled for one in await encode([*texts, *asked])])
    best = int((encoded[: len(spans)] * encoded[len(spans) :]).sum(axis=1).argmax())
    start, end = spans[best]
    text = f"{query.base[:start]}{asked[best]}{query.base[end:]}"
    frame, topic, about = frame_of(text)
    topic = topic_of(frame, topic or text)
    return replace(
        query, text=text, topic=topic, parts=parts_of(topic), frame=frame, about=about, base="", subject="", added="",
        follows=(), quotes=(), answers=(),
    )  # fmt: skip


def name_in(typed: str) -> tuple[str, bool]:
    """The name that a follow-up consists of, and whether it only names a kind; empty if it says more.

    >>> name_in("And on a TPU?"), name_in("What about the input one?"), name_in("And how is it mounted?")
    (('TPU', False), ('input', True), ('', False))
    """
    if not goes_on(typed):
        return "", False
    opener = max((one for one in lexicon.GOES_ON if typed.lower().startswith(one)), key=len)
    said = typed[len(opener) :].strip(" ?!.,")
    if asks(said):
        return "", False
    rest = said.split()
    while rest and rest[0].lower() in lexicon.STOP_WORDS:
        rest.pop(0)
    is_kind = rest[-1:] in (["one"], ["ones"])
    name = " ".join(rest[:-1] if is_kind else rest)
    is_name = 0 < len(rest) <= PHRASE_WORDS and topic_words(name) == words(name)
    return (name, is_kind) if is_name and name else ("", False)


def is_name(phrase: str) -> bool:
    """Whether a few selected words name a thing, without a statement about it.

    >>> is_name("Jetson Orin Nano"), is_name("a dough is lost")
    (True, False)
    """
    is_short = 0 < len(words(phrase)) <= PHRASE_WORDS
    return is_short and _NAMING.fullmatch(phrase) is not None and topic_words(phrase) == words(phrase)


def of_phrase(topic: str, phrase: str) -> str:
    """Add a selected phrase to a topic that points at it; a name replaces the pointing word.

    >>> of_phrase("What is this used for?", "Jetson Orin"), of_phrase("Does this hold?", "a dough is lost")
    ('What is Jetson Orin used for?', 'Does this hold – a dough is lost')
    """
    pointing = next((word for word in words(topic) if word.lower() in lexicon.REFERENCES), "")
    if pointing and is_name(phrase):
        return re.sub(rf"\b{pointing}\b", lambda _: phrase, topic, count=1)
    return f"{topic.rstrip(' ?.!')} – {phrase}"


def sides_of(topic: str, *, compares: bool = False) -> tuple[tuple[int, int], tuple[int, int]] | None:
    """Spans of the first two names that a topic joins or compares; None if it joins none.

    >>> text = "What is the difference between fire blight and silver leaf?"
    >>> [text[slice(*span)] for span in sides_of(text)]
    ['fire blight', 'silver leaf']
    """
    for one, other in pairwise(name_spans(topic)):
        between = [word.lower() for word in words(topic[one[1] : other[0]])]
        if any(word in lexicon.JOINING or (compares and word in lexicon.COMPARING) for word in between):
            return one, other
    return None


def alone(question: Question) -> Query:
    """Take a question as is, for a search without an answer: no conversation, no language check, no cuts."""
    text = " ".join(question.text.split())
    own = frame_of(text)
    topic = topic_of(own.frame, own.topic or text)
    return Query(question=question, typed=text, text=text, topic=topic, parts=(topic,), page=question.page, own=own)


def with_spelling(query: Query, changes: Mapping[str, str]) -> Query:
    """Return the same question in a book's spelling; keep the reader's own words."""
    return replace(
        query,
        text=respell(query.text, changes),
        topic=respell(query.topic, changes),
        added=respell(query.added, changes),
        parts=tuple(respell(part, changes) for part in query.parts),
    )


def _clean(text: str) -> tuple[str, tuple[str, ...]]:
    """One line of at most 500 words, and a note if words were cut."""
    tokens = _UNSEEN.sub("", text).split()
    if not any(character.isalnum() for word in tokens for character in word):
        raise InvalidQuestion(messages.EMPTY_QUESTION)
    return " ".join(tokens[:MAX_WORDS]), (messages.QUESTION_TRUNCATED,) if len(tokens) > MAX_WORDS else ()


def _selection(question: Question, embedder: Embedder) -> tuple[str, Mode, tuple[str, ...]]:
    """The usable part of the selection, the mode that it allows, and a note on what was cut or ignored."""
    selected = question.selected_text
    if not words(selected):
        return "", "book", (messages.EMPTY_SELECTION,) if question.mode == "selection" else ()
    mode = question.mode or "selection_boosted"
    if mode == "book":
        return "", "book", ()
    offsets = embedder.token_offsets(selected)
    if len(offsets) <= MAX_SELECTION_TOKENS:
        return selected, mode, ()
    limit = offsets[MAX_SELECTION_TOKENS - 1][1]
    ends = [match.end() for match in _SENTENCE_END.finditer(selected, 0, limit + 1) if match.end() <= limit]
    return selected[: ends[-1] if ends else limit], mode, (messages.SELECTION_TRUNCATED,)


def first_tokens(text: str, embedder: Embedder, most: int = MAX_SEARCHED_TOKENS) -> str:
    """The first tokens of a text, as many as are searched for."""
    if len(text) <= most:  # a token has a character at least
        return text
    beginning = text[: most * LONG_TOKEN_CHARS]
    offsets = embedder.token_offsets(beginning)
    if len(offsets) <= most and len(beginning) < len(text):
        offsets = embedder.token_offsets(text)
    return text[: offsets[most][0]].rstrip() if len(offsets) > most else text


@lru_cache(maxsize=REMEMBERED)
def normalize(text: str) -> str:
    """Normalise a question for the cache: lower case, single spaces, no final punctuation.

    Treat IT and US as names, not pronouns, unless the whole text is in capitals. A question ends in its mark, typed or
    not; any other text ends without one. Names from code stay unchanged, for `Node` is not `node`; so do marks inside a
    question, which separate two questions. A text that does not begin as a question keeps its mark: "My arm shakes. Now
    what?"

    >>> normalize("  what does a WATCHDOG do"), normalize("What does a watchdog do ?!")
    ('what does a watchdog do?', 'what does a watchdog do?')
    >>> normalize("How do I call nav.goToPose and rclcpp::Node in ROS 2?")
    'how do I call nav.goToPose and rclcpp::Node in ros 2?'
    """
    shouted = text.isupper()

    def lower(word: re.Match[str]) -> str:
        stays = _FROM_CODE.match(word[0]) or (
            not shouted and word[0].isupper() and word[0].lower() in lexicon.STOP_WORDS
        )
        return word[0] if stays else word[0].lower()

    plain = _ORDINARY.sub(lower, " ".join(text.split()))
    end = _FINAL.search(plain)
    body = plain[: end.start()] if end else plain
    last = _SENTENCE_BREAK.split(body)[-1]
    return (f"{body}?" if (end and "?" in end[0]) or _OPENS_QUESTION.match(last) else body) if body else plain
