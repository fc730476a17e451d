"""Put an exported reader in the place of the one that Lutrin ships, and its sizes and hashes into the manifest."""

import hashlib
import shutil
from pathlib import Path

from training.sources import Missing

FOLDER = "reader"
FILES = (
    "model.onnx", "reader.json", "projection.npy", "tokenizer.json", "config.json", "tokenizer_config.json",
    "special_tokens_map.json",
)  # fmt: skip
RANKER = ("ranker.onnx", "ranker.json")
"""Files of a reader that has a ranker."""
HEAD = """\
[[model]]
name = "lutrin-reader"
role = "embed"
tier = "default"
summary = "Finds passages and reads them: all-MiniLM-L6-v2, trained further by us, 384 dimensions, int8 ONNX"
licence = "Apache-2.0"
folder = "reader"
"""


def files(folder: Path) -> tuple[str, ...]:
    """The names of a reader's files."""
    return (*FILES, *(name for name in RANKER if (folder / name).is_file()))


def entry(folder: Path) -> str:
    """What the manifest says of a reader.

    Raises:
        Missing: A file of it is not there.
    """
    text = HEAD
    for name in files(folder):
        if not (folder / name).is_file():
            raise Missing(f"There is no {folder / name}: run `python -m training export` first.")
        content = (folder / name).read_bytes()
        sha256 = hashlib.sha256(content).hexdigest()
        text += f'\n[[model.file]]\nname = "{name}"\nsize = {len(content):_}\nsha256 = "{sha256}"\n'
    return text


def with_reader(manifest: str, folder: Path) -> str:
    """A manifest whose first model, and only embedder, is the reader of a folder."""
    head, *models = manifest.split("[[model]]\n")
    others = [f"[[model]]\n{model}" for model in models if 'role = "embed"' not in model]
    return "\n".join([f"{head.rstrip()}\n", entry(folder), *(f"{model.rstrip()}\n" for model in others)])


def install(folder: Path, models: Path) -> None:
    """Copy a reader to where the models are, then name it in the manifest.

    Args:
        folder: Of an exported reader.
        models: Folder of a `manifest.toml`.

    Raises:
        Missing: There is no manifest, or a file of the reader is not there.
    """
    path = models / "manifest.toml"
    if not path.is_file():
        raise Missing(f"There is no {path}: --models names the folder of Lutrin's models.")
    manifest = with_reader(path.read_text(encoding="utf-8"), folder)
    (models / FOLDER).mkdir(exist_ok=True)
    for name in files(folder):
        shutil.copyfile(folder / name, models / FOLDER / name)
    path.write_text(manifest, encoding="utf-8")
