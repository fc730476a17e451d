"""Every error that Lutrin raises on purpose.

::

    LutrinError
    ├── InvalidInput            the reader's or operator's input is wrong
    │   ├── InvalidQuestion     the text of the question cannot be answered as it is (HTTP 422)
    │   ├── MalformedRequest    the request is not what HTTP or JSON allow (HTTP 400)
    │   ├── RequestTooLarge     the request has more bytes than are read (HTTP 413)
    │   ├── WrongContentType    the body does not call itself JSON (HTTP 415)
    │   └── InvalidSettings     an environment variable or `.env` entry is wrong
    ├── WeightsError            a model file
    │   ├── ModelMissing        is not on this machine
    │   ├── ChecksumMismatch    is not the file that the manifest names
    │   ├── DownloadFailed      could not be downloaded from any of its sources
    │   └── NotEnoughSpace      does not fit on the disk
    ├── IngestError
    │   ├── DocumentError       one file cannot be read; the run goes on
    │   ├── IngestInProgress    another process is ingesting
    │   ├── EmptyCorpus         there is nothing to ingest
    │   └── VerificationFailed  a new generation reads back wrong; the old one goes on serving
    ├── IndexUnavailable        no published generation can be opened (HTTP 503)
    ├── GeneratorError          the language model
    │   ├── GeneratorUnavailable  is unavailable: not loaded, killed, restarting
    │   ├── QueueFull           has too many readers waiting
    │   └── DeadlineExceeded    was too slow
    ├── ArchiveError            a backup or a bundle cannot be written, or is incomplete
    ├── ChatStoreError          conversations cannot be read or written
    │   └── ChatStoreFull       a conversation, or a reader, has no room left; the detail is for the reader
    ├── RateLimited             too many questions (HTTP 429)
    ├── NotPermitted            a secret or token is missing or wrong (HTTP 403)
    ├── AlreadyThere            the name of a new thing is already taken (HTTP 409)
    └── NotFound                there is nothing of that name (HTTP 404)

An error carries `detail`, one sentence for the person who reads it, and `remedy`, what to do about it (may be empty).
"""


class LutrinError(Exception):
    """Base of all errors raised on purpose; detail and remedy are a sentence each for the person who reads them."""

    def __init__(self, detail: str, *, remedy: str = "") -> None:
        super().__init__(f"{detail} {remedy}".strip())
        self.detail = detail
        self.remedy = remedy


class InvalidInput(LutrinError):
    """The reader's or operator's input is wrong."""


class InvalidQuestion(InvalidInput):
    """The text of a question cannot be answered as it is."""


class MalformedRequest(InvalidInput):
    """A request cannot be read: not JSON, not UTF-8, nested too deeply, or sent to another host."""


class RequestTooLarge(InvalidInput):
    """A request has more bytes than the server reads."""


class WrongContentType(InvalidInput):
    """The content type of a body is not one that its endpoint reads."""


class InvalidSettings(InvalidInput):
    """An environment variable or `.env` entry is missing or wrong."""


class WeightsError(LutrinError):
    """Base of the errors about model files."""


class ModelMissing(WeightsError):
    """A model file is not on this machine."""


class EngineMissing(WeightsError):
    """The engine for language models is not installed."""


class ChecksumMismatch(WeightsError):
    """A model file's SHA-256 is not the manifest's; the file was not parsed."""


class DownloadFailed(WeightsError):
    """A model file could not be downloaded from any of its sources."""


class NotEnoughSpace(WeightsError):
    """The disk has too little room for the files to be written."""


class IngestError(LutrinError):
    """Base of the errors of ingestion."""


class DocumentError(IngestError):
    """One source file cannot be read; `line` counts from one."""

    def __init__(self, filename: str, detail: str, *, line: int | None = None) -> None:
        place = filename if line is None else f"{filename}:{line}"
        super().__init__(f"{place}: {detail}")
        self.filename = filename
        self.line = line


class IngestInProgress(IngestError):
    """Another process holds the ingest lock."""

    def __init__(self) -> None:
        super().__init__("Ingestion already in progress.")


class EmptyCorpus(IngestError):
    """The corpus folder holds no file that Lutrin reads."""


class VerificationFailed(IngestError):
    """A new generation did not read back as it was written, so it was not published."""


class IndexUnavailable(LutrinError):
    """No published generation of the book can be opened."""


class GeneratorError(LutrinError):
    """Base of the errors of the language model; answers fall back to extraction."""


class GeneratorUnavailable(GeneratorError):
    """The model process is unavailable: not configured, not loaded yet, or restarting."""


class QueueFull(GeneratorError):
    """Too many answers are waiting for the model."""


class DeadlineExceeded(GeneratorError):
    """The model did not finish in the time that the reader was promised."""


class ArchiveError(LutrinError):
    """A backup or a bundle cannot be written, or is incomplete."""


class ChatStoreError(LutrinError):
    """Conversations cannot be read or written."""


class ChatStoreFull(ChatStoreError):
    """A conversation, or a reader, has no room left; nothing was stored."""


class RateLimited(LutrinError):
    """Too many questions in the window; the next one is admitted after `retry_after_s`, at least 1."""

    def __init__(self, detail: str, *, retry_after_s: int) -> None:
        super().__init__(detail)
        self.retry_after_s = retry_after_s


class NotPermitted(LutrinError):
    """A secret or token is missing or wrong."""


class AlreadyThere(LutrinError):
    """The name of the new thing is already taken."""


class NotFound(LutrinError):
    """There is nothing of that name."""
