"""The folder of `make release` has both architectures."""

import hashlib
import re

from support.checkout import CHECKOUT

RELEASE = CHECKOUT / ".release"
ARCHITECTURES = {"amd64", "arm64"}


def test_lists_of_the_release_have_both_architectures() -> None:
    sums = dict(reversed(line.split()) for line in (RELEASE / "SHA256SUMS").read_text().splitlines())
    entries = (RELEASE / "Packages").read_text().strip().split("\n\n")
    listed = [dict(re.findall(r"^(\S+): (.*)$", entry, re.MULTILINE)) for entry in entries]
    assert {entry["Architecture"] for entry in listed} == ARCHITECTURES
    assert len(listed) == len(ARCHITECTURES)
    for entry in listed:
        name = entry["Filename"].removeprefix("./")
        assert name.endswith(f"_{entry['Architecture']}.deb")
        digest = hashlib.sha256((RELEASE / name).read_bytes()).hexdigest()
        assert digest == entry["SHA256"] == sums[name]


def test_package_for_arm64_is_the_one_that_was_built_and_names_what_it_links_statically() -> None:
    (package,) = (CHECKOUT / ".deb-arm64").glob("keymoded_*_arm64.deb")
    assert (RELEASE / package.name).read_bytes() == package.read_bytes()
    (entry,) = (
        entry
        for entry in (RELEASE / "Packages").read_text().split("\n\n")
        if "\nArchitecture: arm64\n" in entry
    )
    linked = re.search(r"^Static-Built-Using: (.*)$", entry, re.MULTILINE)
    assert linked
    assert re.fullmatch(r"gcc-14 \(= \S+\), swiftlang \(= \S+\)", linked[1])
