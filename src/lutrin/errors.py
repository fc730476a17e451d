"""Every error that Lutrin raises on purpose; the command line prints its words, `lutrin.serve.problems` sends them."""


class LutrinError(Exception):
    """Base of all errors raised on purpose; detail and remedy are a sentence each for the person who reads them."""

    def __init__(self, detail: str, *, remedy: str = "") -> None:
        super().__init__(f"{detail} {remedy}".strip())
        self.detail = detail
        self.remedy = remedy


class InvalidInput(LutrinError):
    """The reader's or operator's input is wrong."""


class InvalidQuestion(InvalidInput):
    """HTTP 422: the text of a question cannot be answered as it is."""


class MalformedRequest(InvalidInput):
    """HTTP 400: a request cannot be read: not JSON, not UTF-8, nested too deeply, or sent to another host."""


class RequestTooLarge(InvalidInput):
    """HTTP 413: a request has more bytes than the server reads."""


class WrongContentType(InvalidInput):
    """HTTP 415: the content type of a body is not one that its endpoint reads."""


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
    """HTTP 503: no published generation of the book can be opened."""


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
    """HTTP 429: too many questions in the window; the next one is admitted after `retry_after_s`, at least 1."""

    def __init__(self, detail: str, *, retry_after_s: int) -> None:
        super().__init__(detail)
        self.retry_after_s = retry_after_s


class NotPermitted(LutrinError):
    """HTTP 403: a secret or token is missing or wrong."""


class AlreadyThere(LutrinError):
    """HTTP 409: the name of the new thing is already taken."""


class NotFound(LutrinError):
    """HTTP 404: there is nothing of that name."""
