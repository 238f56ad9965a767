"""The process that decodes images: a few bytes may stand for more pixels than there is memory."""

from __future__ import annotations

import base64
import io
import warnings
from collections.abc import Mapping
from typing import Any

from proctor.limited_process import serve

FORMATS = {"PNG": "image/png", "JPEG": "image/jpeg", "WEBP": "image/webp", "GIF": "image/gif"}
MAX_PIXELS = 50_000_000
"""Of all frames together."""
MAX_FRAMES = 500


def load() -> None:
    try:
        from PIL import Image
    except ImportError:
        return
    Image.preinit()


def answer(request: Any) -> Mapping[str, Any]:
    """Width, height and media type of an image that can be decoded as a whole."""
    try:
        from PIL import Image, UnidentifiedImageError
    except ImportError:
        return {"problem": "Pillow is not installed; pip install 'proctor[server]'"}
    warnings.simplefilter("ignore")  # of a size that is looked at here
    Image.MAX_IMAGE_PIXELS = None
    try:
        with Image.open(io.BytesIO(base64.b64decode(request)), formats=list(FORMATS)) as image:
            if image.width * image.height > MAX_PIXELS:
                return {"problem": f"it is {image.width} × {image.height} pixels; the most is {MAX_PIXELS:,} in all"}
            frames = getattr(image, "n_frames", 1)
            if frames > MAX_FRAMES or frames * image.width * image.height > MAX_PIXELS:
                most = f"{MAX_FRAMES} frames and {MAX_PIXELS:,} pixels in all"
                return {
                    "problem": f"it has {frames} frames of {image.width} × {image.height} pixels; the most is {most}"
                }
            image.load()
            return {"width": image.width, "height": image.height, "media_type": FORMATS[str(image.format)]}
    except UnidentifiedImageError:
        return {"problem": "it is no image that can be decoded"}
    except (OSError, ValueError, SyntaxError, EOFError, IndexError, KeyError, TypeError) as error:
        return {"problem": f"it is broken ({error})"}


def main() -> None:
    serve(answer, load)
