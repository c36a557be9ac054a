"""Varlink clients that are not part of this project."""

from dataclasses import dataclass

from support.connection import INTERFACE


@dataclass(frozen=True)
class ForeignClient:
    """The command lines of a client, with `{socket}`, `{method}` and `{parameters}` in them."""

    info: str
    introspect: str
    call: str
    follow: str


VARLINKCTL = ForeignClient(
    info="varlinkctl info {socket}",
    introspect=f"varlinkctl introspect {{socket}} {INTERFACE}",
    call=f"varlinkctl call --json=short {{socket}} {INTERFACE}.{{method}} '{{parameters}}'",
    follow=f"varlinkctl call --more --json=short {{socket}} {INTERFACE}.Monitor '{{{{}}}}'",
)
PYTHON = ForeignClient(
    info="python3 -m varlink.cli info unix:{socket}",
    introspect=f"python3 -m varlink.cli help unix:{{socket}}/{INTERFACE}",
    call=f"python3 -m varlink.cli call unix:{{socket}}/{INTERFACE}.{{method}} '{{parameters}}'",
    follow=f"python3 -m varlink.cli call --more unix:{{socket}}/{INTERFACE}.Monitor '{{{{}}}}'",
)
