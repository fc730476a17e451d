"""Authors can see how a file was understood."""

from lutrin.ingest.chunk import chunk_document
from lutrin.ingest.markdown import parse_markdown
from lutrin.records import BookInfo
from lutrin.runtime.ingestion import explain

SOURCE = """---
title: Torque
keywords: [motor, torque]
is_simulation: false
---

## Motors {#m}

:::danger
Keep away.
:::

```python
x = 1
```

:::note
"""


def test_metadata_headings_chunks_and_notices_are_told() -> None:
    """Each with its place in the file."""
    document = parse_markdown(SOURCE, "ch/02-torque.mdx")
    chunks = chunk_document(document, BookInfo(slug="b", title="B"), lambda text: [(0, 1)] * len(text.split()), 400, 50)
    assert (
        explain(document, chunks)
        == f"""\
File:        ch/02-torque.mdx
Title:       Torque
Section:     02-torque
Keywords:    motor, torque
Simulation:  no, real hardware
Characters:  {len(SOURCE)}

Headings
  Torque  (line 1, empty)
    Motors  #m  (line 7, 1 sentence, 1 code)

Chunks: 1

  [0] Torque > Motors
      {chunks[0].token_count} tokens, text, lines 10-14, {chunks[0].chunk_id}
      sentence! Keep away.
          code  python, 1 lines: x = 1

Notices
  line 17: ::: is never closed
"""
    )
