"""QR codes: what a reader of such codes makes of them."""

from __future__ import annotations

import re

import pytest
import zxingcpp
from PIL import Image, ImageDraw

from auth.tokens import new_link_token
from server.ui.qr import qr_code

RECTANGLE = re.compile(r"M(\d+) (\d+)h(\d+)v1h-(\d+)z")
SCALE = 4


def read(text: str) -> str:
    """Draws the code of a text as a browser does, and reads it."""
    code = qr_code(text)
    image = Image.new("L", (code.side * SCALE, code.side * SCALE), 255)
    draw = ImageDraw.Draw(image)
    found = RECTANGLE.findall(code.path)
    assert "".join(f"M{x} {y}h{w}v1h-{w}z" for x, y, w, _ in found) == code.path
    for x, y, width, _ in (map(int, one) for one in found):
        assert 4 <= x < x + width <= code.side - 4, "the quiet zone is white"
        assert 4 <= y < code.side - 4, "the quiet zone is white"
        right, low = (x + width) * SCALE - 1, (y + 1) * SCALE - 1
        draw.rectangle((x * SCALE, y * SCALE, right, low), fill=0)
    (result,) = zxingcpp.read_barcodes(image)
    return str(result.text)


@pytest.mark.parametrize("host", ["http://localhost:8080", "https://xprof.example.org/a/prefix"])
def test_a_reader_finds_the_address_of_a_link(host: str) -> None:
    address = f"{host}/s/{new_link_token()}"
    assert read(address) == address


def test_a_view_in_the_address_is_kept_and_endless_texts_are_refused() -> None:
    address = "https://h.example/s/x?tag=trace_viewer%40&hosts=" + ",".join(
        f"host-{number:03}" for number in range(50)
    )
    assert read(address) == address
    with pytest.raises(ValueError, match=r"(too large|fit)"):
        qr_code("x" * 3000)
