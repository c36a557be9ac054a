"""The host's side of the tests in a guest: the guest itself, its keys, and keymoded in it."""
