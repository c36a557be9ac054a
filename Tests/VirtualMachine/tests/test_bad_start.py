"""A running service survives a bad configuration and a keymoded started by hand.

Tests/ProgramTests has what the daemon logs and tells; here systemd starts it.
"""

from harness import service
from harness.service import UNITS
from harness.vm import VirtualMachine
from harness.watch import Watch

RESTARTS = "systemctl show --value --property NRestarts keymoded"


def test_restart_after_a_crash_uses_the_last_good_configuration(guest: VirtualMachine) -> None:
    service.reload(guest, "keyboard: { bindings: { clickMoreButton: [KEY_F9] } }\n")
    watch = Watch(guest)
    guest.play("tap shift; wait 30; tap f9")
    assert watch.states(2) == ["on", "showingPanel"]
    before = service.state(guest)

    service.configure(guest, "shift: { treshold: 1s }\n")
    counted = int(guest.run(RESTARTS).stdout)
    service.kill(guest)
    after = service.state(guest)
    assert {**after, "time": 0} == {**before, "time": 0}
    # Calls of clients do not start another daemon.
    for _ in range(5):
        service.state(guest)
    assert int(guest.run(RESTARTS).stdout) == counted + 1
    assert service.answer(guest, "GetStatistics")["configuration"] == "lastGood"
    follows = f"{service.FOLLOWED}: 1; the configuration is invalid; the last good one applies"
    guest.wait_until(f"{service.STATUS} | grep -qx '{follows}'")

    # Keys act by the last good configuration.
    watch = Watch(guest)
    guest.play("tap f9")
    (change,) = watch.changes(1)
    assert (change["sequence"], change["to"]) == (3, "prepareToEditText")

    service.reload(guest, "shift: { threshold: 400ms }\n")
    assert service.answer(guest, "GetStatistics")["configuration"] == "current"
    assert guest.run(service.STATUS).stdout == f"{service.FOLLOWED}: 1\n"


def test_first_client_starts_the_service_once_also_with_a_bad_configuration(
    guest: VirtualMachine,
) -> None:
    forgotten = "systemctl clean --what=fdstore keymoded 2>/dev/null"
    guest.run(f"systemctl stop {UNITS}; {forgotten}", check=False)
    service.configure(guest, "shift: { treshold: 1s }\n")
    guest.run("systemctl start keymoded-state.socket keymoded-control.socket")
    assert guest.run("systemctl is-active keymoded.service", check=False).exit_code != 0
    read = guest.run(service.as_user("reader", "keymodectl state shift"))
    assert read.stdout == "off\n"
    for _ in range(5):
        service.state(guest)
    assert guest.run(RESTARTS).stdout == "0\n"
    assert service.answer(guest, "GetStatistics")["configuration"] == "defaults"


def test_daemon_started_by_hand_does_not_disturb_the_service(guest: VirtualMachine) -> None:
    watch = Watch(guest)
    sockets = "stat --format '%n %i' /run/keymoded/*.sock"
    before = guest.run(sockets).stdout
    by_hand = guest.run("keymoded", check=False)
    assert (by_hand.exit_code, by_hand.stdout) == (1, "")
    assert by_hand.stderr == (
        "keymoded: cannot serve in '/run/keymoded': process 1 (systemd) serves there; choose "
        "another directory with --socket-dir\n"
    )
    guest.play("tap shift")
    assert watch.states(1) == ["on"], "clients of the service get their changes"
    # With another socket folder, a daemon runs beside the service.
    service.start_by_hand(guest).kill()
    assert guest.run(sockets).stdout == before
