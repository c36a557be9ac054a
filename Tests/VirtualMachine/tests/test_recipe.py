"""`keymodectl recipe` and `doctor` with the service: a talk key by one command."""

from harness import service
from harness.vm import VirtualMachine

TALKING = "keymodectl wait talk=talking --timeout 60"
SILENT = "keymodectl wait talk=silent --timeout 60"


def looked_at(guest: VirtualMachine) -> dict[str, str]:
    """The sign, `ok`, `no` or `-`, of each thing that doctor looks at, by its first word."""
    shown = guest.run(service.as_user("reader", "keymodectl doctor", "keymoded-state"), check=False)
    lines = [line.split() for line in shown.stdout.splitlines() if line[:1] != " "]
    return {words[1]: words[0] for words in lines}


def test_recipe_binds_its_key_and_doctor_tells_of_the_service(guest: VirtualMachine) -> None:
    assert looked_at(guest)["talk"] == "no"
    installed = guest.run("keymodectl recipe push-to-talk --key Right_Ctrl").stdout
    file = f"{service.CONFIGURATION}.d/push-to-talk.yaml"
    assert installed == f"installed '{file}', with the key Right_Ctrl\n"
    try:
        guest.play("down ctrl_r")
        guest.run(TALKING)
        guest.play("up ctrl_r")
        guest.run(SILENT)
        found = looked_at(guest)
        names = ("daemon", "configuration", "right", "keyboards", "talk")
        assert {found[name] for name in names} == {"ok"}, found
        refused = guest.run(service.as_user("ordinary", "keymodectl recipe panel"), check=False)
        assert refused.exit_code == 5 and "sudo keymodectl recipe panel" in refused.stderr
        # A configuration that is invalid, and one that the service has not read.
        bad = f"{service.CONFIGURATION}.d/zz.yaml"
        guest.run(f"echo 'shift: 1' >{bad}; systemctl kill --signal HUP keymoded")
        guest.wait_until(f"{service.STATUS} | grep ';'")
        assert looked_at(guest)["configuration"] == "no"
        guest.run(f"rm {bad}")
        assert looked_at(guest)["configuration"] == "no"
        guest.run("systemctl reload keymoded")
        guest.wait_until(f"! {service.STATUS} | grep ';'")
        assert looked_at(guest)["configuration"] == "ok"
    finally:
        guest.run(f"keymodectl recipe push-to-talk --remove; rm -r {service.CONFIGURATION}.d")
    assert looked_at(guest)["talk"] == "no"
