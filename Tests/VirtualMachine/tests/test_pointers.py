"""Mice and touchpads, of which keymoded follows the buttons and nothing else.

test_recordings.py has recordings with a mouse.
"""

from harness import service
from harness.service import reload, wait_until_following
from harness.vm import USB_MOUSE_NAME, VirtualMachine
from harness.watch import Watch


def test_mouse_is_listed_as_a_pointer_and_is_not_counted_as_a_keyboard(
    guest: VirtualMachine, mouse: str
) -> None:
    (listed,) = [device for device in service.devices(guest) if device["name"] == USB_MOUSE_NAME]
    assert listed == {
        "name": USB_MOUSE_NAME,
        "node": guest.run(f"readlink -f {mouse}").stdout.strip(),
        "vendor": "0627",
        "product": "0001",
        "keyboard": False,
        "pointer": True,
    }
    assert f"pointer   {USB_MOUSE_NAME}\n" in guest.run("keymodectl devices").stdout
    assert guest.run(service.STATUS).stdout == f"{service.FOLLOWED}: 1\n"

    service.configure(guest, "devices: { ignore: ['*eyboard*'] }\n")
    guest.run(f"systemctl stop {service.UNITS}; systemctl start {service.UNITS}")
    wait_until_following(guest, 0)
    assert USB_MOUSE_NAME in service.pointers(guest)
    assert "no keyboard can be read yet; waiting for one" in service.log(guest)


def test_reload_releases_the_pointers_and_follows_them_again(
    guest: VirtualMachine, mouse: str
) -> None:
    watch = Watch(guest)
    guest.play("down btn_left; wait 80")
    reload(guest, "devices: { pointers: no }\n")
    assert service.pointers(guest) == []
    assert f"not following '{USB_MOUSE_NAME}' any more" in service.log(guest)
    wait_until_following(guest, 1)
    # Its button is no longer held to keymoded.
    guest.play("tap shift; wait 80; tap a; wait 80")
    assert watch.states(2) == ["on", "off"]
    # The button that is held at the opening counts as held.
    reload(guest, "devices: {}\n")
    assert USB_MOUSE_NAME in service.pointers(guest)
    guest.play("tap shift; wait 80; up btn_left; wait 80; tap shift")
    (change,) = watch.changes(1)
    assert (change["sequence"], change["to"]) == (5, "on")
