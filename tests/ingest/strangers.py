"""Folders as strangers have them, one of each make: what is in them, and what must be found."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True)
class Stranger:
    """A folder that was not made for Lutrin."""

    files: Mapping[str, str]
    title: str
    pages: tuple[str, ...]
    """In the order in which a reader leafs through them."""
    question: str
    fact: str
    """Words that the passage that answers holds."""
    chapters: Mapping[str, str] = field(default_factory=dict)
    """Of some pages: the chapter that they belong to."""
    modules: Mapping[str, str] = field(default_factory=dict)
    left_out: frozenset[str] = frozenset()

    def write(self, root: Path) -> Path:
        """Put the folder on the disk."""
        for name, text in self.files.items():
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        return root


def page(title: str, *sentences: str) -> str:
    """A page of Markdown."""
    return f"# {title}\n\n" + "\n\n".join(sentences) + "\n"


def html(heading: str, body: str, title: str = "") -> str:
    """A page of a manual as Sphinx writes it."""
    return (
        f"<html><head><title>{title or heading + ' &#8212; The Pottery Manual 2.1'}</title></head><body>"
        '<div class="related" role="navigation"><a href="genindex.html">index</a></div>'
        f'<div class="body" role="main"><section><h1>{heading}<a class="headerlink" href="#x">¶</a></h1>{body}'
        "</section></div></body></html>"
    )


STRANGERS: Mapping[str, Stranger] = {
    "docusaurus": Stranger(
        files={
            "docusaurus.config.ts": "import x from 'y';\nconst config: Config = {\n  title: 'Greenhouse Control',\n"
            "  presets: [['classic', {docs: {sidebarPath: './sidebars.ts'}}]],\n  themeConfig: {navbar: {title: 'No'}},"
            "\n};\nexport default config;\n",
            "sidebars.ts": "import type {SidebarsConfig} from '@docusaurus/plugin-content-docs';\n"
            "// the order\nconst sidebars: SidebarsConfig = {\n  main: [\n    'intro',\n    {type: 'category', "
            "label: 'Climate', items: ['climate/vents', {type: 'doc', id: 'climate/heating', label: 'Heat'}]},\n  ],\n"
            "};\nexport default sidebars;\n",
            "docs/intro.md": page("Welcome", "This course teaches how a greenhouse is controlled."),
            "docs/climate/01-heating.md": page("Heating", "The boiler starts below twelve degrees."),
            "docs/climate/02-vents.mdx": page("Vents", "The roof vents open at twenty-six degrees."),
            "package.json": "{}",
            "README.md": page("A repository", "Run npm install."),
            "i18n/de/vents.md": page("Lüftung", "Die Fenster."),
        },
        title="Greenhouse Control",
        pages=("docs/intro.md", "docs/climate/02-vents.mdx", "docs/climate/01-heating.md"),
        question="At which temperature do the roof vents open?",
        fact="twenty-six degrees",
        chapters={"docs/climate/02-vents.mdx": "Climate"},
        left_out=frozenset({"docusaurus.config.ts", "sidebars.ts", "package.json", "README.md", "i18n"}),
    ),
    "mdbook": Stranger(
        files={
            "book.toml": '[book]\ntitle = "Beekeeping by Example"\nauthors = ["A"]\nlanguage = "en"\nsrc = "src"\n\n'
            '[build]\nbuild-dir = "out"\n',
            "src/SUMMARY.md": "# Summary\n\n[Preface](preface.md)\n\n# The year\n\n- [Spring](spring.md)\n"
            "  - [The first flight](flight.md)\n- [Autumn](autumn.md)\n",
            "src/preface.md": page("Preface", "Bees need patience."),
            "src/spring.md": page("Spring", "Colonies grow in spring."),
            "src/flight.md": page("The first flight", "The first cleansing flight happens at ten degrees."),
            "src/autumn.md": page("Autumn", "Feed the colonies with sugar syrup in autumn."),
            "out/spring.html": "<h1>Spring</h1><p>Built.</p>",
            "CONTRIBUTING.md": page("Contributing", "Send a patch."),
        },
        title="Beekeeping by Example",
        pages=("src/preface.md", "src/spring.md", "src/flight.md", "src/autumn.md"),
        question="When does the first cleansing flight happen?",
        fact="ten degrees",
        chapters={"src/flight.md": "Chapter 1: Spring", "src/autumn.md": "Chapter 2: Autumn"},
        modules={"src/flight.md": "The year"},
        left_out=frozenset({"book.toml", "src/SUMMARY.md", "out", "CONTRIBUTING.md"}),
    ),
    "mkdocs": Stranger(
        files={
            "mkdocs.yml": "site_name: Bread Handbook\nnav:\n  - Home: index.md\n  - Dough:\n    - Kneading: knead.md\n"
            "    - Autolyse: autolyse.md\nmarkdown_extensions:\n  - x:\n      y: !!python/name:a.b\n",
            "docs/index.md": page("Home", "This handbook bakes bread."),
            "docs/autolyse.md": page("Autolyse", "Flour and water rest for forty minutes during autolyse."),
            "docs/knead.md": page("Kneading", "Knead the dough for eight minutes."),
            "site/knead/index.html": "<p>Built.</p>",
        },
        title="Bread Handbook",
        pages=("docs/index.md", "docs/knead.md", "docs/autolyse.md"),
        question="How long do flour and water rest during autolyse?",
        fact="forty minutes",
        chapters={"docs/autolyse.md": "Dough"},
        left_out=frozenset({"mkdocs.yml", "site"}),
    ),
    "jupyter": Stranger(
        files={
            "_config.yml": "title: Tides and Currents\nauthor: B\n",
            "_toc.yml": "format: jb-book\nroot: start\nparts:\n  - caption: Water\n    chapters:\n      - file: tides\n"
            "        sections:\n          - file: spring-tides\n      - file: currents\n",
            "start.md": page("Tides and currents", "The sea moves."),
            "currents.md": page("Currents", "The Gulf Stream carries thirty million cubic metres a second."),
            "spring-tides.md": page("Spring tides", "Spring tides follow the full moon by two days."),
            "tides.md": page("Tides", "The moon pulls the water."),
            "_build/html/tides.html": "<p>Built.</p>",
            "analysis.tex": "\\\\section{Tides}",
        },
        title="Tides and Currents",
        pages=("start.md", "tides.md", "spring-tides.md", "currents.md"),
        question="How long after the full moon do spring tides come?",
        fact="two days",
        chapters={"spring-tides.md": "Tides", "currents.md": "Currents"},
        modules={"spring-tides.md": "Water", "currents.md": "Water"},
        left_out=frozenset({"_config.yml", "_toc.yml", "_build", "analysis.tex"}),
    ),
    "sphinx": Stranger(
        files={
            "conf.py": "# Settings\nproject = 'The Kiln Manual'\nextensions = ['sphinx.ext.mathjax']\n",
            "index.rst": "The kiln manual\n===============\n\nKilns are ovens.\n\n"
            ".. toctree::\n   :caption: Basics\n\n   start\n   Firing <guide/index>\n",
            "start.rst": "Start\n=====\n\nClay dries for three days.\n",
            "guide/index.rst": "Firing\n======\n\n.. toctree::\n\n   cones\n   bisque\n",
            "guide/bisque.rst": "Bisque\n======\n\nThe bisque firing ends at 950 degrees.\n",
            "guide/cones.rst": "Cones\n=====\n\nCones bend.\n",
            "_build/html/start.html": "<p>Built.</p>",
        },
        title="The Kiln Manual",
        pages=("index.rst", "start.rst", "guide/index.rst", "guide/cones.rst", "guide/bisque.rst"),
        question="At how many degrees does the bisque firing end?",
        fact="950 degrees",
        modules={"start.rst": "Basics", "guide/bisque.rst": "Basics"},
        left_out=frozenset({"conf.py", "_build"}),
    ),
    "myst": Stranger(
        files={
            "myst.yml": "version: 1\nproject:\n  title: Soil Science\n  toc:\n    - file: index.md\n"
            "    - title: Chemistry\n      children:\n        - file: ph.md\n        - file: lime.md\n",
            "index.md": page("Soil", "Soil is alive."),
            "lime.md": page("Liming", "Lime raises the pH within six months."),
            "ph.md": page("Acidity", "Most vegetables want a pH of six and a half."),
        },
        title="Soil Science",
        pages=("index.md", "ph.md", "lime.md"),
        question="How quickly does lime raise the pH?",
        fact="six months",
        chapters={"lime.md": "Chemistry"},
        left_out=frozenset({"myst.yml"}),
    ),
    "quarto": Stranger(
        files={
            "_quarto.yml": "project:\n  type: book\nbook:\n  title: Lenses and Light\n  chapters:\n    - index.md\n"
            "    - part: Glass\n      chapters:\n        - prisms.md\n        - lenses.md\n",
            "index.md": page("Lenses and light", "Light bends in glass."),
            "lenses.md": page("Lenses", "A lens of five dioptres has a focal length of twenty centimetres."),
            "prisms.md": page("Prisms", "A prism spreads light into colours."),
            "_book/lenses.html": "<p>Built.</p>",
        },
        title="Lenses and Light",
        pages=("index.md", "prisms.md", "lenses.md"),
        question="Which focal length does a lens of five dioptres have?",
        fact="twenty centimetres",
        left_out=frozenset({"_quarto.yml", "_book"}),
    ),
    "jekyll": Stranger(
        files={
            "_config.yml": "title: Knots for Sailors\ntheme: minima\n",
            "index.md": "---\ntitle: Start\n---\n\nKnots hold a ship together.\n",
            "bowline.md": "---\ntitle: Bowline\nnav_order: 2\n---\n\nA bowline keeps sixty percent of the strength.",
            "anchor.md": "---\ntitle: The anchor hitch\nnav_order: 3\n---\n\nThe anchor hitch needs two turns.\n",
            "_includes/head.html": "<head></head>",
            "_layouts/page.html": "<p>{{ content }}</p>",
        },
        title="Knots for Sailors",
        pages=("index.md", "bowline.md", "anchor.md"),
        question="How much of the strength of a rope does a bowline keep?",
        fact="sixty percent",
        left_out=frozenset({"_config.yml", "_includes", "_layouts"}),
    ),
    "hugo": Stranger(
        files={
            "hugo.toml": 'baseURL = "https://example.org/"\ntitle = "Cheese at Home"\nlanguageCode = "en-us"\n',
            "content/_index.md": "---\ntitle: Cheese\n---\n\nCheese is milk's leap.\n",
            "content/soft/_index.md": "---\ntitle: Soft cheese\nweight: 2\n---\n\nSoft cheese is quick.\n",
            "content/soft/ricotta.md": "---\ntitle: Ricotta\n---\n\nHeat the whey to ninety degrees for ricotta.\n",
            "content/basics/_index.md": "---\ntitle: Basics\nweight: 1\n---\n\nStart here.\n",
            "content/basics/rennet.md": "---\ntitle: Rennet\n---\n\nRennet sets milk in forty minutes.\n",
            "layouts/x.html": "<p></p>",
            "public/soft/ricotta/index.html": "<p>Built.</p>",
        },
        title="Cheese at Home",
        pages=(
            "content/_index.md",
            "content/basics/_index.md",
            "content/basics/rennet.md",
            "content/soft/_index.md",
            "content/soft/ricotta.md",
        ),
        question="To which temperature is whey heated for ricotta?",
        fact="ninety degrees",
        chapters={"content/soft/ricotta.md": "Soft cheese"},
        left_out=frozenset({"hugo.toml", "layouts", "public"}),
    ),
    "carpentries": Stranger(
        files={
            "config.yaml": "carpentry: 'swc'\ntitle: 'Plotting with Pencils'\nepisodes:\n- shading.md\n- lines.md\n",
            "episodes/lines.md": "---\ntitle: Lines\n---\n\nDraw lines with one stroke of an HB pencil.\n",
            "episodes/shading.md": "---\ntitle: Shading\n---\n\nShade with a 6B pencil held flat.\n",
            "learners/setup.md": "---\ntitle: Setup\n---\n\nBring paper.\n",
            "index.md": "---\nsite: sandpaper\n---\n\nThis lesson draws.\n",
            "README.md": page("Repository", "Build it."),
            "CODE_OF_CONDUCT.md": page("Conduct", "Be kind."),
        },
        title="Plotting with Pencils",
        pages=("index.md", "episodes/shading.md", "episodes/lines.md", "learners/setup.md"),
        question="Which pencil is used for shading?",
        fact="6B pencil",
        left_out=frozenset({"config.yaml", "README.md", "CODE_OF_CONDUCT.md"}),
    ),
    "course": Stranger(
        files={
            "chapters/en/_toctree.yml": "- title: 1. Seeds\n  sections:\n  - local: chapter1/2\n    title: Sowing\n"
            "  - local: chapter1/1\n    title: Why seeds\n- title: 2. Harvest\n  sections:\n  - local: chapter2/1\n"
            "    title: When to harvest\n",
            "chapters/en/chapter1/1.mdx": page("Why seeds?", "Seeds sleep."),
            "chapters/en/chapter1/2.mdx": page("Sowing", "Sow carrots one centimetre deep."),
            "chapters/en/chapter2/1.mdx": page("When to harvest", "Harvest carrots after seventy days."),
            "LICENSE": "Apache",
        },
        title="Course",
        pages=("chapters/en/chapter1/2.mdx", "chapters/en/chapter1/1.mdx", "chapters/en/chapter2/1.mdx"),
        question="After how many days are carrots harvested?",
        fact="seventy days",
        chapters={"chapters/en/chapter2/1.mdx": "2. Harvest"},
        left_out=frozenset({"chapters/en/_toctree.yml", "LICENSE"}),
    ),
    "sphinx-html": Stranger(
        files={
            "index.html": html(
                "The Pottery Manual",
                '<ul><li class="toctree-l1"><a href="wheel.html">The wheel</a></li>'
                '<li class="toctree-l1"><a href="kiln.html">The kiln</a></li></ul>',
                title="The Pottery Manual 2.1",
            ),
            "kiln.html": html("The kiln", "<p>The kiln fires stoneware at 1,240 degrees.</p>"),
            "wheel.html": html("The wheel", "<p>Centre the clay first.</p>"),
            "search.html": html("Search", "<p>Searching.</p>"),
            "genindex.html": html("Index", '<p><a href="kiln.html">kiln</a></p>'),
            "objects.inv": "# Sphinx inventory version 2\n",
            "_sources/kiln.rst.txt": "The kiln\n========\n\nThe kiln fires stoneware at 1,240 degrees.\n",
            "_static/basic.css": "p {}\n",
        },
        title="The Pottery Manual",
        pages=("index.html", "wheel.html", "kiln.html"),
        question="At how many degrees does the kiln fire stoneware?",
        fact="1,240 degrees",
        left_out=frozenset({"search.html", "genindex.html", "objects.inv", "_sources", "_static"}),
    ),
    "docbook": Stranger(
        files={
            "index.html": '<html><head><title>Sail Making</title></head><body><div class="book">'
            '<h1 class="title">Sail Making</h1><div class="toc"><dl class="toc">'
            '<dt><span class="chapter"><a href="ch01.html">1. Cloth</a></span></dt>'
            '<dt><span class="chapter"><a href="ap01.html">A. Knots</a></span></dt></dl></div></div></body></html>',
            "ap01.html": "<html><head><title>Appendix A. Knots</title></head><body>"
            '<div class="navheader"><table><tr><th>Appendix A. Knots</th></tr>'
            '<tr><td><a href="ch01.html">Prev</a></td></tr></table></div>'
            '<div class="appendix"><h2 class="title">Appendix A. Knots</h2><p>A bowline does not slip.</p></div>'
            "</body></html>",
            "ch01.html": "<html><head><title>Chapter 1. Cloth</title></head><body>"
            '<div class="chapter"><h2 class="title">Chapter 1. Cloth</h2>'
            "<p>A storm jib is cut from cloth of nine ounces.</p></div></body></html>",
        },
        title="Sail Making",
        pages=("index.html", "ch01.html", "ap01.html"),
        question="From cloth of how many ounces is a storm jib cut?",
        fact="nine ounces",
    ),
    "texinfo": Stranger(
        files={
            "index.html": "<html><head><title>Top (Loom 4 Manual)</title></head><body>"
            '<h1 class="settitle">Loom 4 Manual</h1><table class="menu">'
            '<tr><td>&bull; <a href="Warp.html">Warp</a></td><td>Threads along.</td></tr>'
            '<tr><td>&bull; <a href="Treadles.html">Treadles</a></td><td>Feet.</td></tr></table></body></html>',
            "Treadles.html": "<html><head><title>Treadles (Loom 4 Manual)</title></head><body>"
            '<div class="header"><p>Previous: <a href="Warp.html">Warp</a>, Up: <a href="index.html">Top</a></p></div>'
            '<h2 class="chapter">2 Treadles</h2>'
            "<p>Six treadles lift the shafts.</p></body></html>",
            "Warp.html": "<html><head><title>Warp (Loom 4 Manual)</title></head><body>"
            '<div class="header"><p>Next: <a href="Treadles.html">Treadles</a>, Up: <a href="index.html">Top</a></p>'
            "</div>"
            '<h2 class="chapter">1 Warp</h2>'
            "<p>The warp has twelve threads a centimetre.</p></body></html>",
        },
        title="Loom 4 Manual",
        pages=("index.html", "Warp.html", "Treadles.html"),
        question="How many threads a centimetre does the warp have?",
        fact="twelve threads",
    ),
    "repository": Stranger(
        files={
            "README.md": page("The Weather Station", "A weather station for schools."),
            "docs/sensors.md": page("Sensors", "The anemometer counts one pulse per two kilometres an hour."),
            "docs/power.md": page("Power", "The solar panel gives six watts."),
            "src/main.py": "print(1)\n",
            ".github/ISSUE_TEMPLATE.md": "Hello\n",
            "node_modules/x/README.md": page("x"),
            "photo.png": "x",
        },
        title="The Weather Station",
        pages=("README.md", "docs/power.md", "docs/sensors.md"),
        question="How many watts does the solar panel give?",
        fact="six watts",
        left_out=frozenset({"src/main.py", ".github", "node_modules", "photo.png"}),
    ),
    "my-notes": Stranger(
        files={"battery.md": page("Battery care", "Store a lithium battery at forty percent.")},
        title="My Notes",
        pages=("battery.md",),
        question="At which charge is a lithium battery stored?",
        fact="forty percent",
    ),
    "lessons-2024": Stranger(
        files={
            "1-water/README.md": page("Water", "Water is polar."),
            "1-water/lessons/2-ice/README.md": page("Ice", "Ice floats because it expands by nine percent."),
            "1-water/lessons/10-steam/README.md": page("Steam", "Steam burns."),
            "2-fire/README.md": page("Fire", "Fire needs oxygen."),
            "2-fire/draft.rtf": "x",
        },
        title="Lessons 2024",
        pages=(
            "1-water/README.md",
            "1-water/lessons/2-ice/README.md",
            "1-water/lessons/10-steam/README.md",
            "2-fire/README.md",
        ),
        question="By how much does ice expand?",
        fact="nine percent",
        chapters={"1-water/lessons/2-ice/README.md": "Ice"},
        modules={"1-water/lessons/2-ice/README.md": "Water"},
        left_out=frozenset({"2-fire/draft.rtf"}),
    ),
}
