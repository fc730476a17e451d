"""A page of the reader shows what was indexed, and nothing that could do harm."""

import html
import re
from itertools import product
from pathlib import Path

import nh3

from lutrin.ingest.markdown import parse_markdown
from lutrin.ingest.page import page_html

PAGES = sorted(path for path in (Path(__file__).parent / "pages").iterdir() if path.suffix in {".md", ".mdx"})


def test_headings_have_the_anchors_of_the_sections() -> None:
    """Every section that a citation can lead to is an id of the page, in the same order."""
    for path in PAGES:
        source = path.read_bytes().decode()
        anchors = [section.anchor for section in parse_markdown(source, path.name).sections if section.anchor]
        ids = re.findall(r'<h[1-6] id="([^"]*)">', page_html(source, path.name))
        assert [name for name in ids if name in anchors] == anchors, path.name


def test_a_page_shows_every_word_of_its_units() -> None:
    """As plain text, code included; numbers of list items are the browser's, pictures have their description."""
    for path in PAGES:
        source = path.read_bytes().decode()
        page = re.sub(r'<img [^>]*alt="([^"]*)">', r"\1", page_html(source, path.name))
        text = html.unescape(re.sub(r"<[^>]*>", "", page)).replace("\u200b", "").replace("\xad", "")
        shown = "".join(text.split())
        for section in parse_markdown(source, path.name).sections:
            for unit in section.units:
                text = unit.text.partition(" ")[2] if re.match(r"\d+[.)] ", unit.text) else unit.text
                assert [word for word in re.findall(r"\w+", text) if word not in shown] == [], path.name


def test_blocks_become_their_elements() -> None:
    """Admonitions, code with its language, figures with captions, tables, details, maths, Mermaid."""
    source = """# Title

:::danger[Safety]
Keep *away*.
:::

```python title="a.py"
x = 1 < 2
```

![An arm](./img/arm.svg)

*Figure 1: An arm.*

| a | b |
|---|--:|
| 1 | 2 |

<details>
<summary>More</summary>

3. third

</details>

$x_1$ and

```mermaid
graph TD; A-->B;
```
"""
    page = page_html(source, "a.mdx")
    for part in (
        '<h1 id="title">Title</h1>',
        '<aside class="admonition danger">\n<p class="admonition-title">Safety</p>\n<p>Keep <em>away</em>.</p>',
        '<p class="code-title">a.py</p>\n<pre><code class="language-python">x = 1 &lt; 2\n</code></pre>',
        '<figure><img src="./img/arm.svg" alt="An arm"><figcaption><em>Figure 1: An arm.</em></figcaption></figure>',
        '<tr><td>1</td><td align="right">2</td></tr>',
        '<details>\n<summary>More</summary>\n<ol start="3">\n<li>third</li>\n</ol>\n</details>',
        '<span class="math">$x_1$</span>',
        '<pre class="mermaid">graph TD; A--&gt;B;</pre>',
    ):
        assert part in page


def test_a_title_from_front_matter_stands_at_the_top() -> None:
    """Once, whether the page repeats it as a heading or not."""
    assert page_html("---\ntitle: A & B\n---\nText.\n", "a.md").startswith("<h1>A &amp; B</h1>")
    assert page_html("---\ntitle: A & B\n---\n# A & B\n\nText.\n", "a.md").count("<h1") == 1


HOSTILE = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "<a href='javascript:alert(1)'>a</a>",
    "[a](javascript:alert(1))",
    "[a](JaVaScRiPt&colon;alert(1))",
    "[a](data:text/html,x)",
    "[a](vbscript:x)",
    "![a](https://evil.example/x.png)",
    "![a](//evil.example/x.png)",
    "![a](data:image/svg+xml,x)",
    '![a"onerror=alert(1)](x.png)',
    "<iframe src='https://evil.example'></iframe>",
    "<svg onload=alert(1)>",
    "<style>@import 'https://evil.example'</style>",
    "`<script>`",
    "```html\n<script>alert(1)</script>\n```",
    "# <script>alert(1)</script>",
    '# Title {#"onclick=alert(1)}',
    ":::note[<img src=x onerror=alert(1)>]\nx\n:::",
    "<Card title='<img src=x onerror=alert(1)>'/>",
    "{'<img src=x onerror=alert(1)>'}",
    "$<img src=x onerror=alert(1)>$",
    '```"><script>alert(1)</script>\nx\n```',
    "&lt;script&gt;alert(1)&lt;/script&gt;",
    "<details open ontoggle=alert(1)>x</details>",
    '<https://evil.example/"onclick=alert(1)>',
    "\\<script>alert(1)\\</script>",
]


def test_nothing_runs_and_nothing_is_loaded_from_elsewhere() -> None:
    """No script, handler, frame, foreign picture or odd scheme is left, so cleaning finds nothing to remove."""
    for source, filename in product(HOSTILE, ("a.md", "a.mdx")):
        page = page_html(f"# T\n\n{source}\n", filename)
        tags = "".join(re.findall(r"<[^>]*>", page)).lower()
        assert not re.search(r"<(script|style|iframe|svg)|\son\w+\s*=|javascript:|vbscript:|data:", tags), source
        assert not re.search(r"src=\"(https?:|//|data:)", tags), source
        kept = {*nh3.ALLOWED_TAGS, "aside", "section", "figure", "figcaption", "details", "summary"}
        names = {name.lower() for name in re.findall(r"</?([a-z][a-z0-9]*)", tags)}
        assert names <= kept, source
