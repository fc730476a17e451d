# Recipes of Lutrin; `./justw RECIPE` needs only Python 3.11+; a C/C++ compiler too where a language model is wanted.

export ORT_DISABLE_TELEMETRY := "1"
# compiled once, not by each process: tests start hundreds
export PYTHONDONTWRITEBYTECODE := ""
export PATH := justfile_directory() / ".venv/bin:" + env("PATH")
tier := env("LUTRIN_MODEL", "auto")
# what is measured where no model is named
measured := env("LUTRIN_MODEL", "small")
packages := if env("LUTRIN_PROFILE", "local") == "remote" { "remote" } else { "runtime" }
# a third worker computes where two wait; what shares a server or an index stays on one of them, as tests/tiers.py says
workers := "-n 3"

# list the recipes
[private]
default:
    @just --list --unsorted

# install what running Lutrin needs, once
setup:
    @python requirements/install.py {{packages}}

# read the books in corpus/ (or FOLDER) into the index
ingest *ARGS: setup
    @lutrin models fetch default
    @lutrin ingest {{ARGS}}

# read the books, and answer on http://127.0.0.1:7860; the language model arrives meanwhile
serve *ARGS: setup
    @lutrin models fetch default
    @lutrin serve --ingest {{ARGS}}

# let systemd run it from this folder, as a user of its own and with few rights; needs root (`just install-service --lan`)
install-service *ARGS: setup
    @lutrin service --install {{ARGS}}

# install what reading scanned pages needs; then set LUTRIN_OCR=true and ingest
ocr: setup
    @uv pip install --quiet --require-hashes -r requirements/ocr.txt

# ask one question in the terminal
ask *ARGS: setup
    @lutrin models fetch default {{tier}}
    @lutrin ask {{ARGS}}

# style, types, unit and system tests: what every change must pass
test *ARGS: _style _tested
    pytest {{workers}} -m "not endurance and not nightly" {{ARGS}}

# what CI runs by night: installations, the core without its guests, the remote profile, chaos, training, evaluation
test-nightly *ARGS: _style _tested
    pytest {{workers}} -m nightly {{ARGS}}

# all of that and endurance, which takes half an hour and writes bench/endurance.json
test-all *ARGS: _style _tested
    -@just site
    pytest {{workers}} {{ARGS}}

# say which results of endurance are older than the code that they cover
endurance *ARGS: _development
    @python bench/endurance.py {{ARGS}}

# the five specifications alone, under the PROFILE local or remote
conformance PROFILE *ARGS: _development
    @lutrin models fetch default
    LUTRIN_TEST_PROFILE={{PROFILE}} pytest tests/conformance {{ARGS}}

# style and types
check: _style
    mypy

# mend style where a tool can
fix: _development
    ruff format .
    ruff check --fix .

# run bench/NAME.py (decode, retrieval, ingest, ...) beside its peers, in one run
bench NAME *ARGS: _development
    @lutrin models fetch default {{measured}}
    python bench/{{NAME}}.py {{ARGS}}

# ask the sample questions and print the scores, with plain searches beside
eval *ARGS: setup
    @lutrin models fetch default {{tier}}
    @lutrin ingest
    @lutrin eval corpus/questions/*.jsonl {{ARGS}}
    @python -m evaluation.searches quality --split all --data-dir "${LUTRIN_DATA_DIR:-data}"
    @python -m evaluation.peers.accuracy --only-show

# the same for the books of a SHELF in bench/books, first to ninth; quotes only
eval-books SHELF='first' *ARGS: setup
    @lutrin models fetch default
    @lutrin ingest bench/books/{{SHELF}} --data-dir bench/out/books/{{SHELF}}
    @LUTRIN_MODEL=none lutrin eval bench/questions/{{SHELF}}/*.jsonl --data-dir bench/out/books/{{SHELF}} {{ARGS}}
    @python -m evaluation.searches quality --split all --data-dir bench/out/books/{{SHELF}} --questions bench/questions/{{SHELF}}/*.jsonl

# ask the real books of a shelf (FOLDER, default ../shared/shelf) their questions, in one table; --help tells the options
eval-shelf *ARGS: setup
    @lutrin models fetch default
    @python -m evaluation.shelf {{ARGS}}

# answer a LIST of questions for somebody who reads and marks (evaluation/read/iot.jsonl)
read-answers LIST *ARGS: setup
    @lutrin models fetch default
    @python -m evaluation.read ask {{LIST}} {{ARGS}}

# add the MARKS of answers up, by book and kind
sum-marks MARKS *ARGS: setup
    @python -m evaluation.read sum {{MARKS}} {{ARGS}}

# make the reader of models/reader anew: run, or one step of it (training/README.md); --help tells the options
train *ARGS: setup
    @python -m training {{ARGS}}

# build the container with Debian's buildah on a base of Debian's packages, start it, ask, mount a folder, ask; needs root
container-test *ARGS: _development
    @python requirements/debian.py buildah debootstrap
    python bench/container.py --debootstrap {{ARGS}}

# four servers, one PostgreSQL with the vectors and one proxy on this machine, without containers; Ctrl-C ends them
cluster *ARGS: _development
    -@python requirements/debian.py caddy
    @lutrin models fetch default
    @python -m loadtests.cluster {{ARGS}}

# let readers ask, all at once or for long: ten, class, hundred, reingest, cluster
loadtest NAME *ARGS: _development
    @lutrin models fetch default {{measured}}
    python -m loadtests.run {{NAME}} {{ARGS}}

# every accident of bench/chaos_*.py, by the hundred; takes an hour or more
chaos: _development
    @lutrin models fetch default tiny
    for script in bench/chaos_*.py; do python "$script" || exit 1; done

# generated and hostile requests by the thousand; no reply may be a 5xx
chaos-http *ARGS: _development
    python bench/chaos_http.py {{ARGS}}

# a hundred readers who ask, drop, reload, delete and upload for an hour while parts fail; no reader may hang
chaos-readers *ARGS: _development
    python bench/chaos_readers.py {{ARGS}}

# kill the server by the thousand while readers chat, and guess their ids
chaos-server *ARGS: _development
    python bench/chaos_server.py {{ARGS}}

# large heads, slow connections, guesses, foreign pages and floods against a real server, with the figures
chaos-door *ARGS: _development
    python bench/chaos_door.py {{ARGS}}

# a book that gives the loaded model orders, forty kinds: no sentence may obey, whatever its grade
chaos-book model="medium" *ARGS: _development
    @lutrin models fetch default {{model}}
    python -m evaluation.studies.poison --tier {{model}} --count 40 {{ARGS}}

# thirty readers for two hours, with accidents
soak *ARGS: _development
    @lutrin models fetch default {{tier}}
    python bench/soak.py {{ARGS}}

# kill, starve and crowd an ingest by the hundred; the index must always be the old or the new one
chaos-ingest *ARGS: _development
    python bench/chaos_ingest.py {{ARGS}}

# the widget, the plugin, the site and the reader in a real browser, on a real server
e2e *ARGS: _development site _chromium
    -@python requirements/debian.py caddy
    @lutrin models fetch default tiny
    cd web && npm test --workspaces --if-present {{ARGS}}

# pictures of the reader, the widget and the teacher's page, into docs/screenshots/
screenshots: setup (_packages "web") _chromium _letters
    @lutrin models fetch default {{tier}}
    cd web/tests && SCREENSHOTS="{{justfile_directory()}}/docs/screenshots" npx vitest run
    @python docs/screenshots.py

# build the widget and the Docusaurus plugin from web/
web: (_packages "web")
    cd web && npm run build --workspaces --if-present

# build the sample book as a Docusaurus site, and prove that every citation of the index lands in it
site: setup web (_packages "web/site")
    @lutrin models fetch default
    @lutrin ingest
    lutrin citations --book physical-ai-textbook > web/site/citations.json
    cd web/site && LUTRIN_CITATIONS=citations.json npm run build

# write .env.example, docs/commands.md, THIRD_PARTY.md and docs/architecture.svg from their sources
docs: _development
    python requirements/env_example.py > .env.example
    python requirements/approved.py > src/lutrin/ingest/approved.txt
    python docs/commands.py > docs/commands.md
    python docs/third_party.py > THIRD_PARTY.md
    python docs/architecture.py > docs/architecture.svg

# the wheel of Lutrin, into dist/: `pip install dist/lutrin-*.whl` needs no checkout
wheel: _development
    python -m hatchling build -t wheel -d dist

# the engine as one wheel for all processors of this architecture (or --arch aarch64), into dist/: other machines then need no compiler (LUTRIN_ENGINE)
engine-wheel *ARGS: _development
    @python requirements/engine_wheel.py {{ARGS}}

# everything that a machine without network needs, in one FILE
bundle FILE="dist/lutrin-bundle.tar": setup
    @lutrin models fetch default {{tier}}
    @lutrin ingest
    @lutrin bundle {{FILE}}

# wheel, widget with its licences, bundle, bill of materials and their checksums in FOLDER (default dist/), which must be empty
release *ARGS: _development
    @lutrin models fetch default {{tier}}
    @lutrin ingest
    python requirements/release.py {{ARGS}}

# make the sample PDF from its sources
corpus-pdf: _development
    python -m corpus.make_handbook

# prove that the sample questions say the truth about the sample book
check-questions: _development
    python corpus/questions/check.py

# ask the resolver whether everything but the engine has wheels for aarch64 (Raspberry Pi, Jetson); needs the registry
aarch64: _development
    @python requirements/aarch64.py

# compile the requirement files, with hashes
lock:
    for group in bootstrap runtime ocr remote load development release bench bench-llamaindex; do \
        uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url \
            --no-emit-find-links --no-header --upgrade requirements/$group.in -o requirements/$group.txt; \
    done

[private]
_style: _development
    ruff format --check .
    ruff check .

[private]
_development:
    @python requirements/install.py development

# what tests drive; those of what cannot be had here are skipped, and say so
[private]
_tested: _development
    @lutrin models fetch default tiny
    -@python requirements/packages.py web
    -@python requirements/debian.py chromium caddy

[private]
_packages FOLDER:
    @python requirements/packages.py {{FOLDER}}

[private]
_chromium:
    @python requirements/debian.py chromium

[private]
_letters:
    -@python requirements/debian.py fonts-urw-base35
