"""A microphone and what it hears, for PipeWire: test machines have none."""

MICROPHONE = """\
context.objects = [
  { factory = adapter
    args = {
      factory.name = support.null-audio-sink
      node.name = microphone
      node.description = "Microphone"
      media.class = Audio/Source/Virtual
      audio.position = MONO
      # As high as those of a real one, whose clock is that of all that is linked to it.
      priority.session = 2000
      priority.driver = 2000
    } }
  # What the microphone can hear. With a clock of its own it would run out of buffers. WirePlumber
  # takes it for another microphone.
  { factory = adapter
    args = {
      factory.name = audiotestsrc
      node.name = tone
      node.param.Props = { live = false }
    } }
]
"""
"""Objects for pipewire.conf, which needs `audiotestsrc` among its `context.spa-libs`."""
