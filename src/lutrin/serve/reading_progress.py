"""Describes the progress of reading the books: for the empty shelf, and for pages that watch an ingestion."""

from lutrin import messages
from lutrin.ingest.summary import FolderReport
from lutrin.records import Job
from lutrin.serve.routes.ingest import Jobs
from lutrin.serve.templating import count_of


def job_text(job: Job | None, waiting: int = 0) -> str:
    """Describe the present or last ingestion in a sentence or two; empty if there was none."""
    if job is None:
        return ""
    text = messages.JOB_STATES[job.state] + (f" {job.detail}" if job.detail else "")
    parts = [name for line in job.progress if (name := FolderReport.name_in(line))]
    if job.state == "running" and parts:
        text += messages.SO_FAR.format(parts=count_of(len(parts), "part"), last=parts[-1])
    if waiting:
        text += messages.UPLOADS_WAIT[messages.plural(waiting)].format(uploads=count_of(waiting, "upload"))
    counts = [
        f"{count_of(number, 'file')} {what}"
        for name, what in messages.FILES_COUNTED.items()
        if isinstance(number := (job.summary or {}).get(name, 0), int) and number
    ]
    return text + (f" {', '.join(counts)}." if counts else "")


def progress_of(jobs: Jobs) -> str:
    """Describe the progress of reading in a sentence; empty if no books are being read."""
    return job_text(jobs.current(), jobs.waiting) if jobs.is_busy else ""
