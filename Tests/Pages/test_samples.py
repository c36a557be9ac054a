"""Every sample of README, of the pages of docs and examples, and of the man pages works as printed.

A sample runs here, or is listed below with the reason why it does not. What a page shows below a command
is what it prints; an ellipsis there stands for anything.
"""

import json
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import pytest
from reader import Reader, install
from samples import Command, Sample, commands, pages, samples
from support.checkout import CHECKOUT
from support.fifo_keyboard import FifoKeyboard
from support.input_events import COMPOSE, INSERT, LEFTSHIFT

F10 = 68

# Commands that do not run here, by how they begin.
LISTED: Mapping[str, str] = {
    # They change more than files, and guests run them.
    "make run": "scripts/fresh-test, and RunScriptTests.swift",
    "make deb": "scripts/fresh-test, and `make deb-arm64`",
    "make build": "every test of the programs",
    "sudo make install": "it installs what this reader has",
    "sudo apt install ./.deb/": "Tests/VirtualMachine/tests/test_readme.py",
    "sudo apt install ./keymoded_*": "Tests/VirtualMachine/tests/test_signed_release.py",
    "sudo apt install python3": "it needs the network",
    "sudo adduser $USER": "it needs a person's account",
    "sudo usermod": "it ends in a restart of the machine",
    "scp .deb": "it needs another machine",
    "ssh -t target": "it needs another machine",
    "sha256sum --check SHA256SUMS": "Tests/VirtualMachine/tests/test_signed_release.py",
    "sudo install -D -m 644 keymoded.asc": "Tests/VirtualMachine/tests/test_signed_release.py",
    "getfacl": "Tests/VirtualMachine/tests/test_person_in_front.py, with a person in front",
    "sudo systemd-sysusers": "it makes users and groups of the machine",
    "sudo udevadm": "it needs udev",
    # They need a service manager.
    "sudo systemctl": "it needs systemd as PID 1, which guests have",
    "systemctl --user": "it needs a service manager of a user, which Tests/UserManager has",
    "exec systemctl --user": "a line for a compositor's configuration, which needs a service manager",
    "sudo install -m 644 ~/kiosk/keymoded.yaml": "Tests/VirtualMachine/tests/test_kiosk.py",
    # They need a desktop, sound, or a seat.
    "waybar -c": "Tests/Desktop/test_waybar.py",
    "./push-to-talk ./dictate": "Tests/Desktop/test_push_to_talk.py",
    "git clone https://github.com/ggml-org/whisper.cpp": "it is not Debian's, and large",
    "cmake -B build": "it builds what was fetched",
    "sh models/download-ggml-model.sh": "it needs the network",
    "install -D -m 644 -t ~/models": "it installs what was fetched",
    "sudo cmake --install build": "it installs what was built",
    "chromium --kiosk": "Tests/Kiosk",
    "hint() {": "it needs systemd-logind",
    "hint true && swaylock": "it locks a screen",
    # They need real keyboards.
    "sudo keymodectl record": "RecordTests.swift, and guests with real keyboards",
    "keymodectl replay typing.yaml": "it replays what the command before has recorded",
    "sudo keymodectl devices": "guests with real keyboards",
    "sudo keymodectl keys": "KeysTests.swift, and guests with real keyboards",
    # They need programs that the tests do not have.
    "varlinkctl": "Tests/VirtualMachine/tests/test_clients_page.py: Debian 12 has no such program",
    "python3 -m venv": "scripts/install-python-tools does so, with the network",
    "~/.venvs/keymoded/bin/pip": "scripts/install-python-tools installs the same package",
    "~/corpus/bin/": "Tests/Corpus, with the packages of the example",
    "duckdb": "Debian has no such program",
    "swift run --package-path examples/chat": "`make examples` builds it, and ChatTests.swift",
    # The error that the page shows is of a file with a mistake.
    "keymoded --check --config keymoded.yaml": "DocumentationTests.swift makes the mistake",
}

# Languages that others run, by page or of all pages.
LISTED_LANGUAGES: Mapping[tuple[str, str], str] = {
    ("mermaid", ""): "Tests/Diagrams draws each",
    ("swift", "docs/state-machines.md"): "PageTests.swift compiles and runs each",
    ("swift", "docs/clients.md"): "DocumentationTests.swift: it is of examples/follow, which `make` builds",
    ("c", "docs/clients.md"): "Tests/VirtualMachine/tests/test_clients_page.py, with systemd 257",
}

# What is no code, by how it begins.
SHOWN: Mapping[str, str] = {
    "EventLoop": "a picture",
    "Connection ── messages": "a picture",
    "StatesFollower ── StatesUpdate": "a picture",
    "key ──┬── compositor": "a picture",
    "keyboard ── keymoded ── keymode-kiosk": "a picture",
    "hold            P": "DocumentationTests.swift presses the keys of this picture",
    "- evdev:": "a part of a recording, of libinput's format",
    "# /etc/apt/sources.list.d": "Tests/VirtualMachine/tests/test_signed_release.py",
    "# /etc/apt/preferences.d": "Tests/VirtualMachine/tests/test_signed_release.py",
    "locked false": "PageTests.swift compares this output",
    'on ["off"]': "PageTests.swift compares this output",
    "entering off": "PageTests.swift compares this output",
    "draws open": "PageTests.swift compares this output",
    "shut 0": "PageTests.swift compares this output",
    "file,state,seconds": "a part of a table which Tests/Corpus reads",
    "F9, free": "what `keymodectl keys` prints of a real keyboard",
}

# Commands that follow the states: the keys that are pressed then, and what is printed where no page says it.
FOLLOWING: Mapping[str, tuple[int, str]] = {
    "keymodectl wait keyboard=showingPanel; keymodectl state": (F10, ""),
    "keymodectl wait keyboard=showingPanel --timeout": (COMPOSE, ""),
    "keymodectl watch --format '{shift} {keyboard} {caps}'": (
        LEFTSHIFT,
        "off prepareToEditText unknown\non prepareToEditText unknown\n",
    ),
    "keymodectl watch --json": (LEFTSHIFT, ""),
    # Its time comes with the state.
    "{ keymodectl watch --format 'keymoded": (INSERT, "…prepareToEditText | …\neditingText | …"),
    'printf \'{"method":"org.keymoded.Controller.Monitor"': (LEFTSHIFT, "off\non\n"),
}

# Pages and samples that suppose a recipe.
RECIPES: Mapping[str, str] = {
    "docs/clients.md": "push-to-talk",
    "machines: { talk: { rows: { talking:": "push-to-talk",
}


@pytest.fixture(scope="session")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with keymoded as installed."""
    folder = tmp_path_factory.mktemp("installed")
    install(folder)
    return folder


@pytest.fixture
def reader(installed: Path) -> Iterator[Reader]:
    """A reader of one page."""
    with Reader(installed) as reader:
        yield reader


def listed(texts: Iterable[str], text: str) -> str | None:
    """How an entry of a list begins that is for this text, if there is one."""
    found = [beginning for beginning in texts if text.startswith(beginning)]
    return max(found, key=len, default=None)


def with_samples() -> list[str]:
    """The pages that have samples."""
    return [page for page in pages() if samples(page)]


def expect(shown: str, printed: str, sample: object) -> None:
    """Checks that a command has printed what its page shows."""
    assert is_shown(shown, printed), f"{sample}\nthe page:\n{shown}\nin truth:\n{printed}"


def is_shown(shown: str, printed: str) -> bool:
    """Whether this is what a page shows. Every start of the daemon has other times and another name."""
    shown = re.sub(r'"(time|caps|num)":\d+', r'"\1":…', shown.rstrip("\n"))
    shown = re.sub(r'"instance":"\w+…?"', '"instance":…', shown)
    pattern = ".*".join(map(re.escape, shown.replace("\n…", "…").split("…")))
    return re.fullmatch(pattern, printed.rstrip("\n"), re.DOTALL) is not None


@pytest.mark.parametrize("page", with_samples())
def test_samples_of_the_page_work_as_printed(page: str, reader: Reader) -> None:
    if page in RECIPES:
        assert reader.run("keymodectl", "recipe", RECIPES[page])[0] == 0
    for sample in samples(page):
        match sample.language:
            case "session" | "sh":
                run_commands(sample, reader)
            case "yaml":
                check_configuration(sample, reader)
            case "ini":
                verify_unit(sample, reader)
            case "python":
                follow_in_python(sample, reader)
            case "varlink":
                ask(sample, reader)
            case "json":
                json.loads("{" + sample.text.rstrip(",").replace(", …", "") + "}")
            case "text":
                assert listed(SHOWN, sample.text), f"{sample}: what is this?\n{sample.text}"
            case language:
                is_listed = {(language, ""), (language, page)} & LISTED_LANGUAGES.keys()
                assert is_listed, f"{sample}: nothing runs this {language}"


def run_commands(sample: Sample, reader: Reader) -> None:
    """Runs the commands of a sample in their order, in the folder of the page's example."""
    example = re.fullmatch(r"(examples/[\w-]+)/README.md", sample.page)
    # This example works on the reader's own folders.
    is_elsewhere = not example or example[1] == "examples/corpus"
    folder = "" if is_elsewhere or not example else f"/usr/share/doc/keymoded/{example[1]}"
    is_running = False
    for command in commands(sample):
        if command.text == "sudo systemctl reload keymoded":
            reader.reload_keymoded()
            continue
        if command.text.startswith("keymodectl while "):
            expect_need_of_a_manager(command, reader)
            continue
        if listed(LISTED, command.text):
            continue
        if command.text.startswith("cd "):
            folder = command.text.removeprefix("cd ")
            continue
        if not is_running and re.search("keymodectl|/run/keymoded", command.text):
            is_running = True
            has_leds = "caps" in command.output
            reader.start_keymoded(FifoKeyboard.NUM_LOCK if has_leds else None)
        run_command(command, folder, reader)
        if command.text.startswith("sudo keymodectl recipe "):
            reader.reload_keymoded()


def run_command(command: Command, folder: str, reader: Reader) -> None:
    """Runs a command of a page."""
    following = listed(FOLLOWING, command.text)
    if following is None:
        status, printed = reader.run("sh", "-ec", command.text, folder=folder)
        assert status == 0, f"{command}: {reader.complaints}"
        if command.output.strip():
            expect(command.output, printed, command)
        return
    key, printed = FOLLOWING[following]
    program = reader.start("sh", "-ec", command.text, folder=folder)
    shown = command.output or printed
    begins = "wait" not in command.text
    status = reader.follow(program, key, lambda: is_shown(shown, reader.printed), begins)
    assert status in (None, 0), f"{command}: {reader.complaints}"


def expect_need_of_a_manager(command: Command, reader: Reader) -> None:
    """Checks that a command of `keymodectl while` lacks nothing but a service manager.

    Tests/UserManager and Tests/Desktop run such commands.
    """
    # The state is of the keyboard's, or of push-to-talk.
    assert reader.run("keymodectl", "recipe", "push-to-talk")[0] == 0
    reader.start_keymoded()
    (reader.home / "emoji.txt").touch()
    status, _ = reader.run("sh", "-ec", command.text.replace("while ", "while --any-session ", 1))
    assert status == 1, f"{command}: {reader.complaints}"
    assert "because systemd could not end it" in reader.complaints, f"{command}: {reader.complaints}"


def check_configuration(sample: Sample, reader: Reader) -> None:
    """Checks a configuration."""
    file = reader.home / "sample.yaml"
    file.write_text(sample.text)
    needed = listed(RECIPES, sample.text)
    if needed:
        folder = "/usr/share/keymoded/recipes"
        add = "mkdir sample.yaml.d; mv sample.yaml sample.yaml.d/zz.yaml; : >sample.yaml"
        add += f"; cp {folder}/{RECIPES[needed]}.yaml sample.yaml.d"
        assert reader.run("sh", "-euc", add)[0] == 0
    status, _ = reader.run("keymoded", "--check", "--config", file)
    assert status == 0, f"{sample}: {reader.complaints}"
    reader.run("rm", "-rf", f"{file}.d")


def verify_unit(sample: Sample, reader: Reader) -> None:
    """Verifies a unit, or what is added to one, at the place that the page says last."""
    page = (CHECKOUT / sample.page).read_text().split("\n")
    before = "\n".join(page[: sample.line + sample.text.count("\n")])
    *_, place = re.finditer(
        r"~/\.config/systemd/user/(?P<user>[\w-]+\.\w+)"
        r"|/etc/systemd/system/(?P<system>[\w.-]+\.d/\w+\.conf)"
        r"|systemctl (?P<manager>--user )?edit (?P<edited>[\w-]+)",
        before,
    )
    is_user = bool(place["user"] or place["manager"])
    name = place["user"] or place["system"] or f"{place['edited']}.service.d/override.conf"
    # Only root could write to /etc/systemd.
    folder = reader.home / ".config/systemd/user" if is_user else Path("/run/systemd/system")
    unit = name.partition(".d/")[0]
    # What the unit runs may be a program that this machine does not have.
    programs = re.findall(r"^ExecStart=([\w-]+)", sample.text, re.MULTILINE)
    add = "for each; do test -e /usr/bin/$each || install -m 755 /dev/null /usr/bin/$each; done"
    assert reader.run("sh", "-euc", add, "sh", *programs)[0] == 0
    (reader.home / "sample.unit").write_text(sample.text + "\n")
    assert reader.run("install", "-D", "-m", "644", "sample.unit", folder / name)[0] == 0
    # As `systemctl enable` does with a unit elsewhere.
    for link in reader.home.glob("*/*.s[oe]*"):
        (folder / link.name).symlink_to(link)
    manager = ["--user"] if is_user else []
    status, _ = reader.run("systemd-analyze", *manager, "verify", "--man=no", unit)
    # An older systemd does not know every setting of the units that are added to.
    faults = [line for line in reader.complaints.split("\n") if name in line]
    assert (status, faults) == (0, []), f"{sample}: {reader.complaints}"


def follow_in_python(sample: Sample, reader: Reader) -> None:
    """Runs a program that follows the states, until it has told of a press of Shift."""
    reader.start_keymoded()
    is_told = lambda: "shift is now on\n" in reader.printed  # noqa: E731
    # This Python has the package that the page installs.
    reader.follow(reader.start(sys.executable, "-c", sample.text), LEFTSHIFT, is_told)


def ask(sample: Sample, reader: Reader) -> None:
    """Sends a message to the daemon after one press of Shift, and compares the answer."""
    reader.start_keymoded(FifoKeyboard.NUM_LOCK)
    call, answer = sample.text.split("\n")
    wait = reader.start("keymodectl", "wait", "shift=on")
    assert reader.follow(wait, LEFTSHIFT, lambda: wait.poll() is not None) == 0
    expect(answer, reader.ask(call), sample)


def test_every_list_is_of_samples_that_exist() -> None:
    every = [sample for page in pages() for sample in samples(page)]
    of_shells = [each for each in every if each.language in ("session", "sh")]
    texts = [command.text for sample in of_shells for command in commands(sample)]
    shown = [sample.text for sample in every if sample.language == "text"]
    for entries, found in ((LISTED, texts), (FOLLOWING, texts), (SHOWN, shown)):
        for beginning in entries:
            assert any(listed([beginning], text) for text in found), beginning
    languages = {(each.language, page) for each in every for page in ("", each.page)}
    assert LISTED_LANGUAGES.keys() <= languages
    for page in RECIPES:
        assert page in pages() or any(sample.text.startswith(page) for sample in every), page


def test_lines_for_i3blocks_show_the_state(reader: Reader) -> None:
    (row,) = re.findall(r"^\| i3blocks \|.*", (CHECKOUT / "docs/bars.md").read_text(), re.MULTILINE)
    (reader.home / "i3blocks.conf").write_text("\n".join(re.findall(r"`(.*?)`", row)) + "\n")
    reader.start_keymoded()
    bar = reader.start("i3blocks", "-c", "i3blocks.conf")
    shown = '…"full_text":"prepareToEditText"…"full_text":"editingText"…'
    reader.follow(bar, INSERT, lambda: is_shown(shown, reader.printed), begins=True)


def test_samples_are_found() -> None:
    counts = {page: len(samples(page)) for page in pages()}
    assert counts["docs/clients.md"] > 10 and sum(counts.values()) > 110
