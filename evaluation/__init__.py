"""Measure how right answers are: question files in, figures of one pipeline out.

::

    questions.py   question files, and which half is for tuning
    text.py        Markdown as words, sentences and facts are counted in it
    proof.py       whether the book proves a sentence
    measures.py    what one answer scores
    figures.py     the figures, what they mean and their goals
    run.py         questions through a pipeline, one outcome each
    pipeline.py    Lutrin itself as that pipeline
    bootstrap.py   intervals by resampling questions
    report.py      outcomes to figures, overall and by kind
    show.py        tables
    bars.py        figures that must be reached

The judge shares no code with what it judges (only `pipeline.py` and `asking.py` know both): it has its own rules for
words, numbers, names and sentences.

Half of the questions of a file are for tuning and half for testing only. The half is decided by the question's id
alone (`questions.half_of`: SHA-256, even first byte tunes, odd one tests), so it never changes when files grow. Use
`--split tune` to change weights, thresholds, prompts or rules; run `--split test` afterwards, to report.
"""
