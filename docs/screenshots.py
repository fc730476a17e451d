"""Make the pictures in docs/screenshots/ small: WebP without loss, from a palette in the place of full colours."""

from pathlib import Path

from PIL import Image

COLOURS = 64
FOLDER = Path(__file__).with_suffix("")


def main() -> None:
    """Write every PNG of the folder as WebP."""
    for path in sorted(FOLDER.glob("*.png")):
        with Image.open(path) as picture:
            few = picture.convert("RGB").quantize(COLOURS, method=Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)
        few.convert("RGB").save(path.with_suffix(".webp"), lossless=True, method=6)
        path.unlink()


if __name__ == "__main__":
    main()
