"""The states outlive the daemon, under a real systemd. Tests/UserManager kills it again and again."""

from collections.abc import Iterator

import pytest
from harness import service
from harness.vm import VirtualMachine
from harness.watch import Watch


@pytest.fixture
def guest(installed: VirtualMachine) -> Iterator[VirtualMachine]:
    """The guest, with a service that was just started without stored states."""
    with service.configured(installed, service.PATIENT):
        yield installed


def change_some_states(guest: VirtualMachine) -> None:
    watch = Watch(guest)
    guest.play("tap shift; wait 100; tap shift; wait 30; tap insert; wait 30; tap compose")
    assert watch.states(4) == ["on", "capsLock", "editingText", "showingPanel"]


def test_stop_forgets_the_states_only_before_systemd_254(guest: VirtualMachine) -> None:
    version = service.systemd_version(guest)
    change_some_states(guest)
    before = service.state(guest)
    guest.run("systemctl stop keymoded; systemctl start keymoded")
    after = service.state(guest)
    assert (after["instance"] == before["instance"]) == (version >= 254)
    assert after["sequence"] == (6 if version >= 254 else 2), "the locks are off"


@pytest.mark.parametrize(
    "end_and_begin",
    [
        "systemctl restart keymoded",
        "systemctl kill --signal KILL keymoded; systemctl start keymoded",
    ],
)
def test_restart_keeps_the_states(guest: VirtualMachine, end_and_begin: str) -> None:
    change_some_states(guest)
    before = service.state(guest)
    guest.run(end_and_begin)
    after = service.state(guest)
    assert {**after, "time": 0} == {**before, "time": 0}
    assert after["time"] > before["time"]
    # The service continues from these states.
    guest.wait_until(f"{service.STATUS} | grep -q '^{service.FOLLOWED}: [1-9]'")
    watch = Watch(guest)
    guest.play("tap shift; wait 30; tap compose")
    assert [change["sequence"] for change in watch.changes(2)] == [7, 8]
    assert service.state(guest)["states"]["shift"] == "off"


def test_first_client_starts_the_service_once_also_with_a_bad_configuration(
    guest: VirtualMachine,
) -> None:
    guest.run(f"systemctl stop {service.UNITS}; systemctl clean --what=fdstore keymoded", check=False)
    service.configure(guest, "shift: { treshold: 1s }\n")
    guest.run("systemctl start keymoded-state.socket keymoded-control.socket")
    assert guest.run("systemctl is-active keymoded.service", check=False).exit_code != 0
    read = guest.run(service.as_user("reader", "keymodectl state shift"))
    assert read.stdout == "off\n"
    # Calls of clients start no other daemon.
    for _ in range(5):
        service.state(guest)
    assert guest.run("systemctl show --value --property NRestarts keymoded").stdout == "0\n"
    assert service.answer(guest, "GetStatistics")["configuration"] == "defaults"
