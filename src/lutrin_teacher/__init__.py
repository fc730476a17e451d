"""The teacher's side of Lutrin: her pages, assignments, and the entries that she and a model prepare for a book.

| the core finds | by the entry point |
|---|---|
| the pages (`extension.PAGES`) | `lutrin.pages` |
| the commands `lutrin companion` and `lutrin study` | `lutrin.commands` |
| the study of all books while the server is idle (`study_job.study_all`) | `lutrin.idle` |

Without this package the core still shows prepared entries, but no more can be prepared.
"""
