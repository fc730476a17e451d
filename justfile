# Recipes of Lutrin; `./justw RECIPE` needs only Python 3.11+ and a C/C++ compiler.

export PATH := justfile_directory() / ".venv/bin:" + env("PATH")
tier := env("LUTRIN_MODEL", "small")

# list the recipes
[private]
default:
    @just --list --unsorted

# install what running Lutrin needs, once
setup:
    @python requirements/install.py runtime

# read the books in corpus/ (or FOLDER) into the index
ingest *ARGS: setup
    @lutrin models fetch default
    @lutrin ingest {{ARGS}}

# fetch the models, read the books, and answer on http://127.0.0.1:7860
serve *ARGS: setup
    @lutrin models fetch default {{tier}}
    -@lutrin ingest
    @lutrin serve {{ARGS}}

# ask one question in the terminal
ask *ARGS: setup
    @lutrin models fetch default {{tier}}
    @lutrin ask {{ARGS}}

# run the whole test suite, style and types first
test *ARGS: check
    @lutrin models fetch default tiny
    pytest {{ARGS}}

# style and types
check: _development
    ruff format --check .
    ruff check .
    mypy

# mend style where a tool can
fix: _development
    ruff format .
    ruff check --fix .

# kill, starve and crowd an ingest by the hundred; the index must always be the old or the new one
chaos-ingest *ARGS: _development
    python bench/chaos_ingest.py {{ARGS}}

# prove that the sample questions say the truth about the sample book
check-questions: _development
    python corpus/questions/check.py

# compile the requirement files, with hashes
lock:
    for group in bootstrap runtime development; do \
        uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url \
            --no-emit-find-links --no-header --upgrade requirements/$group.in -o requirements/$group.txt; \
    done

[private]
_development:
    @python requirements/install.py development
