"""A running service survives a bad configuration and a keymoded started by hand."""

import json

from harness import service
from harness.service import CONFIGURATION, UNITS
from harness.vm import VirtualMachine
from harness.watch import Watch

WARNING = "the configuration is invalid; the last good one applies"


def killed(vm: VirtualMachine) -> None:
    """Kills the daemon, and waits for the next one to be ready."""
    vm.run(
        """
        pid() { systemctl show --value --property MainPID keymoded; }
        before=$(pid)
        kill -KILL "$before"
        until [ "$(pid)" != "$before" ] && systemctl --quiet is-active keymoded; do sleep 0.05; done
        """
    )


def test_restart_after_a_crash_uses_the_last_good_configuration(guest: VirtualMachine) -> None:
    service.reload(guest, "keyboard: { bindings: { clickMoreButton: [KEY_F9] } }\n")
    watch = Watch(guest)
    guest.play("tap shift; wait 30; tap f9")
    assert watch.states(2) == ["on", "showingPanel"]
    before = service.state(guest)

    service.configure(guest, "shift: { treshold: 1s }\n")
    restarts = "systemctl show --value --property NRestarts keymoded"
    counted = int(guest.run(restarts).stdout)
    killed(guest)
    after = service.state(guest)
    assert {**after, "time": 0} == {**before, "time": 0}
    # Calls of clients do not start another daemon.
    for _ in range(5):
        service.state(guest)
    assert int(guest.run(restarts).stdout) == counted + 1
    statistics = json.loads(guest.run("keymodectl stats --json").stdout)
    assert statistics["configuration"] == "lastGood"
    assert "invalid; the last good one applies" in guest.run("keymodectl stats").stdout
    log = "\n".join(service.log(guest))
    assert f"{CONFIGURATION}:1:10: unknown setting 'treshold'; did you mean 'threshold'?" in log
    assert WARNING in log
    follows = f"{service.FOLLOWED}: [1-9].*; {WARNING}"
    guest.wait_until(f"{service.STATUS} | grep -qx '{follows}'")

    # Keys act by the last good configuration.
    watch = Watch(guest)
    guest.play("tap f9")
    (change,) = watch.changes(1)
    assert (change["sequence"], change["to"]) == (3, "prepareToEditText")

    service.reload(guest, "shift: { threshold: 400ms }\n")
    statistics = json.loads(guest.run("keymodectl stats --json").stdout)
    assert statistics["configuration"] == "current"
    assert guest.run(service.STATUS).stdout == f"{service.FOLLOWED}: 1\n"


def test_first_start_with_a_bad_configuration_uses_the_defaults(guest: VirtualMachine) -> None:
    forgotten = "systemctl clean --what=fdstore keymoded 2>/dev/null"
    guest.run(f"systemctl stop {UNITS}; {forgotten}", check=False)
    service.configure(guest, "shift: { treshold: 1s }\n")
    # The first client starts the service, once, and gets its reply.
    guest.run("systemctl start keymoded-state.socket keymoded-control.socket")
    assert service.state(guest)["sequence"] == 0
    for _ in range(5):
        service.state(guest)
    assert guest.run("systemctl show --value --property NRestarts keymoded").stdout == "0\n"
    statistics = json.loads(guest.run("keymodectl stats --json").stdout)
    assert statistics["configuration"] == "defaults"
    log = "\n".join(service.log(guest))
    assert f"{CONFIGURATION}:1:10: unknown setting 'treshold'" in log
    assert "the configuration is invalid; the defaults apply" in log


def test_daemon_started_by_hand_does_not_disturb_the_service(guest: VirtualMachine) -> None:
    watch = Watch(guest)
    guest.play("tap shift")
    assert watch.states(1) == ["on"]
    sockets = "stat --format '%n %i' /run/keymoded/*.sock"
    before = guest.run(sockets).stdout
    by_hand = guest.run("keymoded", check=False)
    assert (by_hand.exit_code, by_hand.stdout) == (1, "")
    assert by_hand.stderr == (
        "keymoded: cannot serve in '/run/keymoded': process 1 (systemd) serves there; choose "
        "another directory with --socket-dir\n"
    )
    assert guest.run(sockets).stdout == before
    guest.play("tap a")
    assert watch.states(1) == ["off"], "clients of the service get their changes"
    assert service.state(guest)["sequence"] == 2

    # With another socket folder, a daemon runs beside the service.
    service.start_by_hand(guest).kill()
    assert guest.run(sockets).stdout == before
