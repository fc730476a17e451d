"""Transcripts (WebVTT, SubRip): the spoken text, in sections of a minute or two titled by their time.

Source: W3C WebVTT; SubRip has no standard, its blocks are a number, a line of times, and text.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape, unescape

from lutrin.errors import DocumentError
from lutrin.ingest.decoding import decode
from lutrin.ingest.hypertext import document_of, soup_of, to_markdown
from lutrin.ingest.markdown import title_from_name
from lutrin.records import Document

_TIMES = re.compile(r"[ \t]*((?:\d+:)?\d{1,2}:\d{2}[.,]\d{1,3})[ \t]*-->[ \t]*((?:\d+:)?\d{1,2}:\d{2}[.,]\d{1,3})")
_VOICE = re.compile(r"<v(?:\.[^\s<>]*+)?\s++([^<>]++)>")
_TAG = re.compile(r"</?[^<>]{0,200}>|\{\\[^{}]{0,100}\}")
"""Tags of WebVTT, and those of other programs that occur in SubRip files."""
_BLOCKS = re.compile(r"\n[ \t]*\n+")
_ENDS = (".", "!", "?", "…", '."', ".”", "?”", "!”")
SECTION_S, LONGEST_S, PAUSE_S = 60.0, 120.0, 8.0
"""A section ends with the first sentence after a minute, at a pause, or at the latest after two minutes."""


@dataclass(frozen=True, slots=True)
class _Cue:
    start_s: float
    end_s: float
    voice: str
    text: str


def parse_transcript(data: bytes, filename: str, _password: str = "") -> Document:
    """Read a WebVTT or SubRip file.

    Raises:
        DocumentError: There is no cue with text in it.
    """
    text, notices = decode(data, filename)
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    cues = list(_cues(text))
    if not cues:
        raise DocumentError(filename, "holds no line with a time and what is said then")
    html = "".join(map(_section, _sections(cues)))
    title = title_from_name(filename.rpartition("/")[2])
    return document_of(to_markdown(soup_of(html)), filename, title=title, notices=notices)


def _cues(text: str) -> Iterator[_Cue]:
    last: list[str] = []
    for block in _BLOCKS.split(text):
        lines = block.split("\n")
        times = next((number for number, line in enumerate(lines) if _TIMES.match(line)), None)
        match = _TIMES.match(lines[times]) if times is not None else None
        if times is None or match is None:
            continue  # the head, a note or a style
        said = "\n".join(lines[times + 1 :])
        voice = _VOICE.search(said)
        rows = [" ".join(unescape(_TAG.sub("", line)).split()) for line in said.split("\n")]
        fresh = [row for row in rows if row and row not in last]  # live captions repeat the line before
        last = [row for row in rows if row] or last
        if fresh:
            yield _Cue(_seconds(match[1]), _seconds(match[2]), voice[1].strip() if voice else "", " ".join(fresh))


def _seconds(time: str) -> float:
    seconds = 0.0
    for part in time.replace(",", ".").split(":"):
        seconds = 60 * seconds + float(part)
    return seconds


def _sections(cues: Sequence[_Cue]) -> Iterator[list[_Cue]]:
    section: list[_Cue] = []
    for cue in cues:
        if section:
            long_s, before = cue.start_s - section[0].start_s, section[-1]
            ended = before.text.endswith(_ENDS)
            if long_s >= LONGEST_S or (long_s >= SECTION_S and (ended or cue.start_s - before.end_s >= PAUSE_S)):
                yield section
                section = []
        section.append(cue)
    yield section


def _section(cues: Sequence[_Cue]) -> str:
    paragraphs: list[tuple[str, list[str]]] = []
    for cue in cues:
        if not paragraphs or (cue.voice and cue.voice != paragraphs[-1][0]):
            paragraphs.append((cue.voice, []))
        paragraphs[-1][1].append(cue.text)
    body = "".join(
        f"<p>{f'<strong>{escape(voice)}:</strong> ' if voice else ''}{escape(' '.join(texts))}</p>"
        for voice, texts in paragraphs
    )
    return f"<h2>{_clock(cues[0].start_s)}–{_clock(cues[-1].end_s)}</h2>{body}"


def _clock(seconds: float) -> str:
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"
