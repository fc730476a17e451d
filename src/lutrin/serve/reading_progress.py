"""How far the books are read, in words: for the empty shelf, and for pages that watch an ingestion."""

from lutrin.ingest.summary import FolderReport
from lutrin.serve.routes.ingest import Job, Jobs
from lutrin.serve.templating import count_of

COUNTED = {
    "processed": ("file", "read"),
    "unchanged": ("file", "unchanged"),
    "removed": ("file", "gone"),
    "failed": ("file", "could not be read"),
}
JOB_STATES = {
    "waiting": "Waits until the books have been read.",
    "running": "Reading the books…",
    "done": "The books have been read.",
    "failed": "It did not work.",
}


def job_text(job: Job | None, waiting: int = 0) -> str:
    """Describe in a sentence or two how an ingestion is going or went; empty if there was none."""
    if job is None:
        return ""
    text = JOB_STATES[job.state] + (f" {job.detail}" if job.detail else "")
    parts = [name for line in job.progress if (name := FolderReport.name_in(line))]
    if job.state == "running" and parts:
        text += f" {count_of(len(parts), 'part')} so far, the last one: {parts[-1]}."
    if waiting:
        text += f" {count_of(waiting, 'upload')} {'waits' if waiting == 1 else 'wait'} and will be read next."
    counts = [
        f"{count_of(number, thing)} {what}"
        for name, (thing, what) in COUNTED.items()
        if isinstance(number := (job.summary or {}).get(name, 0), int) and number
    ]
    return text + (f" {', '.join(counts)}." if counts else "")


def progress_of(jobs: Jobs) -> str:
    """How far the books are read, in a sentence; empty if they are not read now."""
    return job_text(jobs.current(), jobs.waiting) if jobs.is_busy else ""
