"""What the Python tests and benchmarks share: with Python's standard library alone.

The guest of `Tests/VirtualMachine` gets a copy of this folder, beside the programs that it runs.
"""
