"""A real Chromium without a window, driven for the tests of the page; they are skipped where there is none."""

from __future__ import annotations

import base64
import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

ARTEFACTS = Path(__file__).parents[2] / "build" / "pictures"
"""Where screenshots are kept; git ignores it."""
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
DRIVER = shutil.which("chromedriver")
_FLAGS = (
    *("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync", "--force-color-profile=srgb"),
)


class Browser:
    """One tab: what it shows, what it logged, what it asked the network for."""

    def __init__(self, driver: Any) -> None:
        self.driver = driver

    def open(self, path: Path, *, width: int = 1280, height: int = 900, dark: bool = False) -> None:
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [scheme]})
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        for log in ("browser", "performance"):
            self.driver.get_log(log)
        self.driver.get(path.as_uri())
        self.settle()

    def settle(self) -> None:
        """Let what is to be drawn be drawn."""
        self.driver.execute_async_script(
            "const done = arguments[0]; requestAnimationFrame(() => requestAnimationFrame(() => done()));"
        )

    def run(self, script: str, *arguments: Any) -> Any:
        return self.driver.execute_script(script, *arguments)

    def keys(self, selector: str, *keys: str) -> None:
        """Press keys in an element, by their names."""
        self.run("document.querySelector(arguments[0]).focus()", selector)
        codes = {"Enter": 13, "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40, "Home": 36, "End": 35}
        for key in keys:
            told = {"key": key, "code": key, "windowsVirtualKeyCode": codes.get(key, 0)}
            if len(key) == 1:
                told["text"] = key
            self.driver.execute_cdp_cmd("Input.dispatchKeyEvent", {"type": "keyDown", **told})
            self.driver.execute_cdp_cmd("Input.dispatchKeyEvent", {"type": "keyUp", **told})
        self.settle()

    def complaints(self) -> list[Any]:
        """What the console says: errors, warnings, and breaches of the page's policy."""
        return list(self.driver.get_log("browser"))

    def requests(self) -> list[str]:
        """The addresses that were asked for since the page was opened, beside its own file."""
        messages = [json.loads(entry["message"])["message"] for entry in self.driver.get_log("performance")]
        asked = [told["params"]["request"]["url"] for told in messages if told["method"] == "Network.requestWillBeSent"]
        return [url for url in asked if not url.startswith(("file:", "data:"))]

    def screenshot(self, name: str, *, whole: bool = False) -> Path:
        options: dict[str, Any] = {"captureBeyondViewport": whole}
        if whole:
            size = self.run("return [document.documentElement.clientWidth, document.documentElement.scrollHeight]")
            options["clip"] = {"x": 0, "y": 0, "width": size[0], "height": size[1], "scale": 1}
        taken = self.driver.execute_cdp_cmd("Page.captureScreenshot", options)
        ARTEFACTS.mkdir(parents=True, exist_ok=True)
        path = ARTEFACTS / f"{name}.png"
        path.write_bytes(base64.b64decode(taken["data"]))
        return path


@contextmanager
def started(profile: Path) -> Iterator[Browser]:
    """A browser with a fresh profile."""
    if CHROMIUM is None or DRIVER is None:
        pytest.skip("needs Chromium and its driver: apt-get install chromium chromium-driver")
    webdriver = pytest.importorskip("selenium.webdriver", reason="needs the extra `browser`")
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for flag in (*_FLAGS, f"--user-data-dir={profile}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(DRIVER))
    try:
        yield Browser(driver)
    finally:
        driver.quit()
