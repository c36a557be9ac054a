/// The colours and text sizes of the picture, in light and dark mode.
///
/// Classes `c0` to `c6` are the colours of states. `c0` is a grey, for states such as `off`. The
/// others are from the palette of Okabe and Ito, which the colour-blind can tell apart; the grey
/// differs from all of them in lightness too.
enum Style {
  /// The sizes of the title and of all other text, in pixels.
  static let (titleSize, textSize) = (16.0, 12.0)

  /// The style sheet. It has no variables: librsvg, which many viewers use, does not support them.
  static let sheet = """
    text { font-family: system-ui, "Segoe UI", Helvetica, Arial, sans-serif; \
    font-size: \(decimal(textSize))px; fill: #1f2328 }
    .title { font-size: \(decimal(titleSize))px; font-weight: 600 }
    .lane { font-weight: 600 }
    .quiet, .mark { fill: #59636e }
    .mark { text-anchor: end }
    .paper { fill: #ffffff; stroke: #d1d9e0 }
    .grid { fill: none; stroke: #d8dee4 }
    .press { fill: none; stroke: #424a53; stroke-width: 1.5 }
    .on { fill: #10151c }
    .c0 { fill: #d5dbe2 }
    .c1 { fill: #e69f00 }
    .c2 { fill: #d55e00 }
    .c3 { fill: #cc79a7 }
    .c4 { fill: #56b4e9 }
    .c5 { fill: #009e73 }
    .c6 { fill: #f0e442 }
    .many { fill: #424a53 }
    @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3 }
    .quiet, .mark { fill: #9198a1 }
    .paper { fill: #0d1117; stroke: #3d444d }
    .grid { stroke: #2a313c }
    .press { stroke: #c3cbd4 }
    .c0 { fill: #768390 }
    .many { fill: #c3cbd4 }
    }
    """
}
