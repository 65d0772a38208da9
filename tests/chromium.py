"""A Chromium for the tests of the page and the pictures in docs/.

    python tests/chromium.py        # what `make test` does first; never fails

One that is installed on the machine is used.  Otherwise, where there is npm, a headless build for
Linux on x86-64 is unpacked into this environment's folder: 70 MB to fetch, 220 MB on the disk.
The package carries the libraries that it needs beside libc, and fonts; nothing is installed.
Where there is none, `launch` says why and tests of the page skip.
"""

from __future__ import annotations

import hashlib
import io
import os
import platform
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Playwright

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
PACKAGE = "@sparticuz/chromium@153.0.0"
SHA512 = (
    "8e2196a92bcf31dbb8f8ff538a562a011ef21063c41c8371fa50af13f36a34ef"
    "c41d8cc5ff1d615222394fa8a8548b7b744cbb9fcf1bcb24f4be4f9d9ec810c0"
)
PARTS = ("chromium", "al2023.tar", "fonts.tar")  # the program, libraries, fonts
FOLDER = Path(sys.prefix) / "chromium"
FONTS = """<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig><dir>/usr/share/fonts</dir><dir>{0}/fonts</dir><cachedir>{0}/cache</cachedir></fontconfig>
"""
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


class NoBrowser(Exception):
    """In one line, why there is none."""


def installed() -> str | None:
    return next(filter(None, map(shutil.which, NAMES)), None)


def launch(playwright: Playwright) -> Browser:
    """A browser that runs, or NoBrowser."""
    program, env = installed(), dict(os.environ)
    if program is None:
        program = str(FOLDER / "chromium")
        if not Path(program).exists():
            raise NoBrowser("there is no Chromium: `python tests/chromium.py` fetches one")
        env |= {"LD_LIBRARY_PATH": f"{FOLDER}/lib", "FONTCONFIG_FILE": f"{FOLDER}/fonts.conf"}
    try:
        return playwright.chromium.launch(executable_path=program, args=FLAGS, env=env)
    except Exception as error:
        raise NoBrowser(f"{program} does not start: {str(error).splitlines()[0]}") from error


def unpack(package: bytes, folder: Path) -> None:
    import brotli

    found = hashlib.sha512(package).hexdigest()
    if found != SHA512:
        raise ValueError(f"{PACKAGE} has the SHA-512 {found}, not the expected {SHA512}")
    partial = folder.with_name(f"{folder.name}.{os.getpid()}")
    with tarfile.open(fileobj=io.BytesIO(package)) as outer:
        for part in PARTS:
            packed = outer.extractfile(f"package/bin/{part}.br")
            content = brotli.decompress(packed.read())
            if part.endswith(".tar"):
                with tarfile.open(fileobj=io.BytesIO(content)) as inner:
                    inner.extractall(partial, filter="data")
            else:
                partial.mkdir(parents=True)
                (partial / part).write_bytes(content)
                (partial / part).chmod(0o755)
    (partial / "fonts.conf").write_text(FONTS.format(folder))
    partial.replace(folder)


def fetch() -> str:
    """Have a Chromium if one can be had; one line on what came of it, or none."""
    if installed() or (FOLDER / "chromium").exists():
        return ""
    if (sys.platform, platform.machine()) != ("linux", "x86_64"):
        return "no Chromium on the PATH, and none to fetch for this system"
    npm = shutil.which("npm")
    if npm is None:
        return "no Chromium on the PATH, nor npm to fetch one with"
    try:
        with TemporaryDirectory() as place:
            command = [npm, "pack", PACKAGE, "--silent", "--pack-destination", place]
            subprocess.run(command, check=True, capture_output=True, timeout=120, cwd=place)
            (package,) = Path(place).glob("*.tgz")
            unpack(package.read_bytes(), FOLDER)
    except Exception as error:
        return f"no Chromium could be fetched ({error})"
    return f"fetched a Chromium for tests of the page (70 MB) into {FOLDER}"


if __name__ == "__main__":
    line = fetch()
    if line:
        print(line if "fetched a" in line else f"{line}: tests of the page will skip")
