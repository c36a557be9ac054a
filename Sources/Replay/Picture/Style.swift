/// The colours and text sizes of the picture, in light and dark mode.
///
/// Colours are from the palette of Okabe and Ito, which the colour-blind can tell apart; the grey of
/// initial states differs from all of them in lightness too. Classes `c0` to `c6` are the colours.
enum Style {
  /// The colours of the Shift machine's states, in the order of ``Lane/names``.
  static let shift = [0, 1, 2, 6, 3, 4, 5]
  /// The colours of the keyboard machine's states.
  static let keyboard = [0, 3, 4, 5, 6, 1, 2]

  /// The size of the letters of a state's name in a lane and in the legend, in pixels.
  static let stateSize = 12.0
  /// The size of a state's name on two lines, and of the labels of rows and the axis, in pixels.
  static let smallSize = 11.0
  /// The size of the title, in pixels.
  static let titleSize = 16.0

  /// The style sheet. It has no variables: librsvg, which many viewers use, does not support them.
  static let sheet = """
    text { font-family: system-ui, "Segoe UI", Helvetica, Arial, sans-serif; \
    font-size: \(decimal(stateSize))px; fill: #1f2328 }
    .title { font-size: \(decimal(titleSize))px; font-weight: 600 }
    .lane { font-weight: 600 }
    .small, .mark { font-size: \(decimal(smallSize))px }
    .middle, .mark { text-anchor: middle }
    .quiet, .mark { fill: #59636e }
    .paper { fill: #ffffff; stroke: #d1d9e0 }
    .grid { fill: none; stroke: #d8dee4 }
    .axis { fill: none; stroke: #818b98 }
    .press { fill: none; stroke: #424a53; stroke-width: 1.5 }
    .span { stroke: #ffffff }
    .unused { fill: none; stroke: #818b98; stroke-dasharray: 2 2 }
    .on { fill: #10151c }
    .c0 { fill: #d5dbe2 }
    .c1 { fill: #e69f00 }
    .c2 { fill: #d55e00 }
    .c3 { fill: #cc79a7 }
    .c4 { fill: #56b4e9 }
    .c5 { fill: #009e73 }
    .c6 { fill: #f0e442 }
    .many { fill: url(#many) }
    .many0 { fill: #ffffff }
    .many1 { stroke: #818b98; stroke-width: 2 }
    @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3 }
    .quiet, .mark { fill: #9198a1 }
    .paper { fill: #0d1117; stroke: #3d444d }
    .grid { stroke: #2a313c }
    .axis, .unused { stroke: #6e7681 }
    .press { stroke: #c3cbd4 }
    .span { stroke: #0d1117 }
    .c0 { fill: #39424e }
    .on0 { fill: #e6edf3 }
    .many0 { fill: #0d1117 }
    }
    """
}
