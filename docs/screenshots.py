"""Make the pictures in docs/screenshots/ small: a palette instead of full colours, which costs no letter its edge."""

from pathlib import Path

from PIL import Image

COLOURS = 64
FOLDER = Path(__file__).with_suffix("")


def main() -> None:
    """Write every PNG of the folder again."""
    for path in sorted(FOLDER.glob("*.png")):
        with Image.open(path) as picture:
            few = picture.convert("RGB").quantize(COLOURS, method=Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)
        few.save(path, optimize=True)


if __name__ == "__main__":
    main()
