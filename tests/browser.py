"""A real Chromium for tests, without a network."""

from __future__ import annotations

import base64
import json
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
)


INFLATED = """
const done = arguments[0];
const waits = () => document.querySelector("#page-data[type$=gzip]") && !("ready" in document.documentElement.dataset);
const look = () => (waits() ? setTimeout(look, 5) : done());
look();
"""


@contextmanager
def chromium(downloads: Path, *, offline: bool = True) -> Iterator[Any]:
    """Start a browser; `scripts/install-browser` puts one on the machine."""
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    class _Chrome(webdriver.Chrome):
        """Waits until a page has inflated its numbers, as a reader does without knowing."""

        def get(self, url: str) -> None:
            super().get(url)
            self.execute_async_script(INFLATED)

        def refresh(self) -> None:
            super().refresh()
            self.execute_async_script(INFLATED)

    program, driver = shutil.which("chromium"), shutil.which("chromedriver")
    assert program is not None, "there is no chromium: run scripts/install-browser"
    assert driver is not None, "there is no chromedriver: run scripts/install-browser"
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        options = webdriver.ChromeOptions()
        options.binary_location = program
        for flag in (*FLAGS, f"--user-data-dir={profile}"):
            options.add_argument(flag)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        browser = _Chrome(options=options, service=Service(driver))
        try:
            browser.execute_cdp_cmd("Network.enable", {})
            if offline:
                conditions = {
                    "offline": True,
                    "latency": 0,
                    "downloadThroughput": 0,
                    "uploadThroughput": 0,
                }
                browser.execute_cdp_cmd("Network.emulateNetworkConditions", conditions)
            behaviour = {"behavior": "allow", "downloadPath": str(downloads)}
            browser.execute_cdp_cmd("Browser.setDownloadBehavior", behaviour)
            browser.set_script_timeout(60)
            yield browser
        finally:
            browser.quit()


def resize(browser: Any, width: int, height: int = 900, *, dark: bool = False) -> None:
    """Give the page a size and a colour scheme."""
    size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 700}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    scheme = {"features": [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", scheme)


def draw_everything(browser: Any, parts: int = 1000) -> None:
    """Open the parts, or the first few, and wait until every chart that shows is drawn."""
    browser.execute_async_script(
        """
        const done = arguments[1];
        [...document.querySelectorAll("details")].slice(0, arguments[0]).forEach((part) => { part.open = true; });
        (async () => {
          for (const figure of document.querySelectorAll("figure[data-plot]")) {
            if (!figure.checkVisibility()) continue;
            figure.scrollIntoView();
            while (figure.dataset.drawn !== "done") await new Promise((next) => setTimeout(next, 20));
          }
          window.scrollTo(0, 0);
          done();
        })();
        """,
        parts,
    )


def console(browser: Any) -> list[str]:
    """Return what stands in the console since it was last asked for."""
    return [entry["message"] for entry in browser.get_log("browser")]


def requests(browser: Any) -> list[str]:
    """Return the addresses that were asked for since this was last asked."""
    messages = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    return [
        m["params"]["request"]["url"]
        for m in messages
        if m["method"] == "Network.requestWillBeSent"
    ]


def screenshot(browser: Any, file: Path) -> None:
    """Write the whole page as PNG."""
    size = browser.execute_script(
        "return [document.documentElement.scrollWidth, document.documentElement.scrollHeight]"
    )
    clip = {"x": 0, "y": 0, "width": size[0], "height": size[1], "scale": 1}
    shot = browser.execute_cdp_cmd(
        "Page.captureScreenshot", {"captureBeyondViewport": True, "clip": clip}
    )
    file.write_bytes(base64.b64decode(shot["data"]))


def overflowing(browser: Any) -> list[str]:
    """Return what reaches out of the page, or text that reaches out of its chart."""
    found: list[str] = browser.execute_script("""
        const width = document.documentElement.clientWidth;
        const found = [];
        if (document.documentElement.scrollWidth > width) found.push(`page ${document.documentElement.scrollWidth}`);
        for (const text of document.querySelectorAll("figure svg text")) {
          const frame = text.closest("svg").getBoundingClientRect(), box = text.getBoundingClientRect();
          if (!box.width) continue;
          if (box.left < frame.left - 1 || box.right > frame.right + 1 || box.top < frame.top - 1
              || box.bottom > frame.bottom + 1) found.push(`text ${text.textContent}`);
        }
        for (const heading of document.querySelectorAll("h1, h2, h3, p, li, summary")) {
          const box = heading.getBoundingClientRect();
          if (box.right > width + 1) found.push(`${heading.tagName} ${heading.textContent.slice(0, 40)}`);
        }
        return found;
        """)
    return found
