import Foundation
import FoundationXML
import Testing

@testable import Replay

/// The elements of an SVG document, which must be well-formed.
final class Drawing: NSObject, XMLParserDelegate {
  struct Element {
    let name: String
    let parent: String
    let attributes: [String: String]
    /// The text of the element, and the text of a tooltip in it.
    var text = ""
    var tooltip = ""

    var classes: [Substring] { attributes["class", default: ""].split(separator: " ") }

    func number(_ name: String) -> Double { Double(attributes[name, default: ""]) ?? .nan }

    /// The font size of a text, as in the style sheet.
    var fontSize: Double { classes.contains("title") ? 16 : 12 }

    /// The horizontal extent of a text, at 0.62 em per letter.
    var extent: ClosedRange<Double> {
      let width = Double(text.unicodeScalars.count) * 0.62 * fontSize
      let start = number("x") - (classes.contains("mark") ? width : 0)
      return start...(start + width)
    }

    /// The x coordinates at which the ticks or lines of a path start.
    var starts: [Double] {
      attributes["d", default: ""].split(separator: "M").map { start in
        Double(start.prefix { $0 != " " }) ?? .nan
      }
    }
  }

  private(set) var elements: [Element] = []
  private var open: [Int] = []

  init(_ svg: String) throws {
    super.init()
    let parser = XMLParser(data: Data(svg.utf8))
    parser.delegate = self
    let isWellFormed = parser.parse()
    try #require(isWellFormed, "\(parser.parserError.map { "\($0)" } ?? "")")
  }

  func parser(
    _ parser: XMLParser, didStartElement name: String, namespaceURI: String?,
    qualifiedName: String?, attributes: [String: String]
  ) {
    let parent = open.last.map { elements[$0].name } ?? ""
    open.append(elements.count)
    elements.append(Element(name: name, parent: parent, attributes: attributes))
  }

  func parser(
    _ parser: XMLParser, didEndElement name: String, namespaceURI: String?, qualifiedName: String?
  ) {
    open.removeLast()
  }

  func parser(_ parser: XMLParser, foundCharacters text: String) {
    guard let place = open.last else { return }
    elements[place].text += text
    if elements[place].name == "title", open.count > 1 {
      elements[open[open.count - 2]].tooltip += text
    }
  }

  // MARK: Contents

  var height: Double { elements[0].number("height") }
  var texts: [Element] { elements.filter { $0.name == "text" } }
  var labels: [Element] { texts.filter { $0.classes.contains("mark") } }
  /// The spans of the lane whose upper edge is at `y`.
  func spans(y: Double) -> [Element] {
    elements.filter {
      $0.name == "rect" && $0.parent == "svg" && $0.number("y") == y && $0.number("height") == 36
    }
    .sorted { ($0.number("x"), $0.number("width")) < ($1.number("x"), $1.number("width")) }
  }
  var shift: [Element] { spans(y: 66) }
  var keyboard: [Element] { spans(y: 110) }
  /// The paths of ticks, one for each class of presses that has any.
  var ticks: [Element] { elements.filter { $0.classes.contains("press") } }
}

/// Parses the picture of a timeline, and checks what must be true of every picture.
@discardableResult
func drawing(_ timeline: Timeline, title: String = "a title") throws -> Drawing {
  let svg = timeline.svg(title: title)
  #expect(svg.utf8.count < 300_000)
  #expect(!svg.contains("nan") && !svg.contains("inf") && !svg.contains("<script"))
  #expect(!svg.contains("href") && !svg.contains("url("))
  let drawing = try Drawing(svg)
  let root = drawing.elements[0]
  #expect(root.attributes["role"] == "img")
  #expect(root.attributes["viewBox"] == "0 0 800 \(root.attributes["height", default: ""])")
  #expect(drawing.elements.dropFirst().prefix(2).map(\.name) == ["title", "desc"])
  for element in drawing.elements {
    for name in ["x", "y", "width", "height", "d"] {
      let value = element.attributes[name, default: ""]
      #expect(!value.contains(/\.\d\d\d|e/), "\(value) is too fine")
    }
  }
  for text in drawing.texts {
    #expect(text.text != "" || title == "")
    #expect(text.extent.lowerBound >= 1 && text.extent.upperBound <= 792.01, "\(text)")
    #expect(text.number("y") >= 16 && text.number("y") <= drawing.height - 4, "\(text)")
  }
  for (index, one) in drawing.texts.enumerated() {
    for other in drawing.texts[..<index] where abs(other.number("y") - one.number("y")) < 11 {
      #expect(!one.extent.overlaps(other.extent), "'\(one.text)' lies on '\(other.text)'")
    }
  }
  for lane in [drawing.shift, drawing.keyboard] {
    #expect(lane.first?.number("x") == 128)
    #expect(lane.allSatisfy { $0.number("width") >= 1 && $0.tooltip != "" })
    let end = lane.map { $0.number("x") + $0.number("width") }.max() ?? 0
    #expect((782.98...785).contains(end))
    // A gap of one pixel separates spans, and only narrow ones overlap their neighbours.
    for (one, next) in zip(lane, lane.dropFirst()) {
      let gap = next.number("x") - one.number("x") - one.number("width")
      #expect(gap < 1.02 && gap > -1.02)
      #expect(
        max(one.number("width"), next.number("width")) > 1.98, "they are one, of many changes")
    }
  }
  #expect(drawing.ticks.flatMap(\.starts).allSatisfy { (128...784).contains($0) })
  return drawing
}
