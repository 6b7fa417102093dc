"""What we publish as a page or picture, in a real browser: readable without scripts, inert, in its window."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tests.browser import Page, browser
from utboost_action.report.board import Board, Entry, board_document, places_of, unaudited
from utboost_action.report.board_pages import board_html
from utboost_action.report.waterfall import Step, waterfall_svg

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser")]

WIDTHS = (360, 768, 1280)  # CSS pixels
HARMLESS = {
    *(
        "html",
        "head",
        "meta",
        "title",
        "style",
        "body",
        "h1",
        "p",
        "table",
        "thead",
        "tbody",
        "tr",
        "th",
        "td",
    ),
    *("span", "i", "b", "ul", "li"),
}


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    with browser(tmp_path_factory.mktemp("profile")) as running:
        yield running.page()


class Bait:
    """A server that hostile names point at; `hits` says whether anything came."""

    def __init__(self) -> None:
        self.hits: list[str] = []
        bait = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                bait.hits.append(self.path)
                self.send_response(204)
                self.end_headers()

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002
                return

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"


@pytest.fixture
def bait() -> Iterator[Bait]:
    made = Bait()
    thread = threading.Thread(target=made.server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    yield made
    made.server.shutdown()
    made.server.server_close()
    thread.join()


def hostile_names(url: str) -> list[str]:
    return [
        "<script>window.ran = 1; alert(1)</script>",
        f'<img src="{url}/img" onerror="window.ran = 1">',
        f'"><svg onload="window.ran = 1"><image href="{url}/svg"/></svg>',
        f"' onmouseover='window.ran = 1' style='background: url({url}/css)",
        f'</td></tr></table><iframe src="{url}/frame"></iframe>',
        f'</style><link rel="stylesheet" href="{url}/link">',
        f'<meta http-equiv="refresh" content="0;url={url}/meta">',
        f'<base href="{url}/"><form action="{url}/form"><input autofocus onfocus="window.ran = 1"></form>',
        f"<a href='javascript:window.ran = 1'>{{{{ 7 * 7 }}}}</a> {url}",
        "\u202egnp.exe\u2066 \x1b[31m\x00&lt;script&gt;&#60;b&#62;",
        "W" * 300,
        "名前 " * 60,
    ]


def hostile_board(url: str) -> dict[str, object]:
    """A board of twenty: honest ones, hostile names, one that claims nothing."""
    names = hostile_names(url)
    honest = [
        Entry(f"2024010{n}_agent", f"Agent {n}", 480 - 30 * n, 200 - 9 * n, 300, 500, 9, 2, 3)
        for n in range(7)
    ]
    hostile = [Entry(f"{n:02}{name}", name, 100 + n, 3, 90 - n, 120, n) for n, name in enumerate(names)]
    places = places_of([*honest, *hostile, unaudited("20240301_silent", "", None)])
    return board_document(Board(f"rows{names[1]}", f"lite{names[0]}", 500, places, (names[1], names[5])))


def rows(page: Page) -> list[dict[str, str]]:
    """The table as it stands in the document: label -> text that is shown."""
    script = """JSON.stringify([...document.querySelectorAll("tbody tr")].map(row => Object.fromEntries(
        [...row.cells].map(cell => [cell.dataset.label, cell.innerText]))))"""
    found: list[dict[str, str]] = json.loads(page.value(script))
    return found


def elements(page: Page) -> list[str]:
    names = 'JSON.stringify([...document.querySelectorAll("*")].map(element => element.localName))'
    found: list[str] = json.loads(page.value(names))
    return found


def test_the_browser_would_notice_what_is_live(page: Page, bait: Bait, tmp_path: Path):
    """The check itself: the same names, unescaped, do run and do ask for things."""
    path = tmp_path / "live.html"
    path.write_text("<!doctype html><body>" + "".join(hostile_names(bait.url)[:3]).replace("alert(1)", ""))
    page.requests.clear()
    page.open(path.as_uri(), width=1280, scripts=True)
    assert page.value("window.ran") == 1
    assert {"script", "img", "svg"} <= set(elements(page))
    assert f"{bait.url}/img" in page.requests
    assert "/img" in bait.hits
    page.open(path.as_uri(), width=1280, scripts=False)
    assert page.value("window.ran") is None


@pytest.mark.parametrize("scripts", [False, True], ids=["without scripts", "with scripts"])
@pytest.mark.parametrize("width", WIDTHS)
def test_the_board_is_readable_inert_and_in_its_window(
    page: Page, bait: Bait, tmp_path: Path, width: int, scripts: bool
):
    document = hostile_board(bait.url)
    path = tmp_path / "board.html"
    path.write_text(board_html(document))
    page.requests.clear()
    page.said.clear()
    page.open(path.as_uri(), width=width, scripts=scripts)

    shown = rows(page)
    places = document["places"]
    assert isinstance(places, list)
    assert len(shown) == len(places) == 20
    for row, place in zip(shown, places, strict=True):
        assert row["rank after"].split()[0] == str(place["rank_after"])
        assert row["rank before"].split()[0] == str(place["rank_before"])
        claimed = "unknown" if place["claimed"] is None else str(place["claimed"]["count"])
        assert row["claimed"].split()[0] == claimed
        low, high = (place["adjusted"][end]["count"] for end in ("low", "high"))
        assert row["adjusted"].startswith(f"{low} to {high}")
    names = {row["submission"] for row in shown}
    assert {name for name in hostile_names(bait.url) if name.isprintable() and name == name.strip()} <= names
    assert {"Agent 0", "20240301_silent"} <= names

    assert set(elements(page)) <= HARMLESS
    live = "[onload], [onerror], [onmouseover], [onfocus], [href], [src], [autofocus]"
    assert page.value(f'document.querySelectorAll("{live}").length') == 0
    assert page.value("window.ran") is None
    assert page.value("document.title").startswith("Board of lite<script>")
    assert page.requests == [path.as_uri()]
    assert bait.hits == []
    assert page.said == []

    widths = page.value("[document.documentElement.scrollWidth, document.documentElement.clientWidth]")
    assert widths == [width, width]
    boxes = '[...document.querySelectorAll("body *")].map(each => each.getBoundingClientRect())'
    outside = f"{boxes}.filter(box => box.right > {width} + 0.5 || box.left < -0.5).length"
    assert page.value(outside) == 0


OUTSIDE_THE_FRAME = """(() => {
    const frame = document.documentElement.viewBox.baseVal;
    const within = box => box.x >= 0 && box.y >= 0
        && box.x + box.width <= frame.width && box.y + box.height <= frame.height;
    return [...document.querySelectorAll("text, rect")].filter(each => !within(each.getBBox()))
        .map(each => each.textContent || each.outerHTML);
})()"""


@pytest.mark.parametrize("scripts", [False, True], ids=["without scripts", "with scripts"])
@pytest.mark.parametrize("name", range(12))
def test_the_waterfall_is_inert_and_in_its_frame(
    page: Page, bait: Bait, tmp_path: Path, name: int, scripts: bool
):
    steps = (
        Step("claimed", 128),
        Step("wrong: a confirmed test fails", -20, is_change=True),
        Step("adjusted, high", 108),
        Step("suspect, inconclusive, not audited", -8, is_change=True, is_open=True),
        Step("adjusted, low", 100),
    )
    path = tmp_path / "waterfall.svg"
    path.write_text(waterfall_svg(steps, 500, hostile_names(bait.url)[name]))
    page.requests.clear()
    page.said.clear()
    page.open(path.as_uri(), width=1280, scripts=scripts)
    assert set(elements(page)) == {"svg", "title", "rect", "text"}
    assert page.value("window.ran") is None
    assert page.requests == [path.as_uri()]
    assert bait.hits == []
    assert page.said == []
    texts = page.value('[...document.querySelectorAll("text")].map(each => each.textContent).join("|")')
    assert all(step.label in texts for step in steps)
    assert page.value(OUTSIDE_THE_FRAME) == []
