import KeyboardModes
import KeymodeClient
import SystemCalls

@testable import Acting

/// A service manager as the plan sees it. It does what it was ordered only when told to, so that a
/// test decides what happens in which order.
struct ModelManager {
  private(set) var active: Set<TargetUnit> = []
  /// The jobs that are under way, oldest first.
  private(set) var jobs: [(order: TargetOrder, number: UInt32)] = []
  /// Every order that was given.
  private(set) var orders: [TargetOrder] = []
  /// The targets that cannot be started.
  var masked: Set<TargetUnit> = []
  /// The messages for the user.
  private(set) var messages: [String] = []
  /// How often the targets were listed again.
  private(set) var lists = 0
  /// The answers and ends of jobs that the plan has not been told of, oldest first.
  private var news: [(inout TargetPlan) -> Void] = []
  private var last: UInt32 = 0

  init(active: [TargetUnit] = []) { self.active = Set(active) }

  /// The present list of the targets.
  var list: [ListedTarget] {
    let units = active.union(jobs.map(\.order.unit))
    return units.map { unit in
      let job = jobs.first { $0.order.unit == unit }
      return ListedTarget(
        unit: unit, isActive: active.contains(unit), job: job.map { ($0.order.verb, $0.number) })
    }
  }

  var hasNews: Bool { !news.isEmpty }

  /// Performs all that the plan wants to do now.
  mutating func perform(_ plan: inout TargetPlan) {
    while let action = plan.nextAction() {
      switch action {
      case .tell(let message): messages.append("\(message)")
      case .order(let order): take(order)
      case .list:
        lists += 1
        let list = list
        news.append { $0.correct(list) }
      }
    }
  }

  /// Takes an order, as systemd does in mode `replace`.
  mutating func take(_ order: TargetOrder) {
    orders.append(order)
    if order.verb == .start, masked.contains(order.unit) {
      news.append { $0.refuse(order, "it is masked", isUnknown: false) }
      return
    }
    if let old = jobs.firstIndex(where: { $0.order.unit == order.unit }) { end(old, "canceled") }
    last += 1
    let number = last
    jobs.append((order, number))
    news.append { $0.accept(order, job: number) }
  }

  /// Another program gives an order; the plan gets no answer.
  mutating func takeFromOther(_ order: TargetOrder) {
    let count = news.count
    take(order)
    news.remove(at: news.count - 1)
    orders.removeLast()
    precondition(news.count >= count)
  }

  /// Ends a job with this result; by default the oldest one.
  mutating func end(_ index: Int = 0, _ result: String = "done") {
    let (order, number) = jobs.remove(at: index)
    if result == "done" {
      if order.verb == .start { active.insert(order.unit) } else { active.remove(order.unit) }
    }
    news.append { $0.end(job: number, of: order.unit, result) }
  }

  /// Tells the plan the oldest news.
  mutating func tell(_ plan: inout TargetPlan) {
    news.removeFirst()(&plan)
  }

  /// Tells the plan the newest news first.
  mutating func tellLast(_ plan: inout TargetPlan) { news.removeLast()(&plan) }

  /// Ends all jobs, and tells everything, until nothing is left to do.
  mutating func settle(_ plan: inout TargetPlan) {
    perform(&plan)
    while hasNews || !jobs.isEmpty {
      if hasNews { tell(&plan) } else { end() }
      perform(&plan)
    }
  }

  /// The connection is lost: the plan gets no answer to what it asked.
  mutating func forgetNews() { news = [] }

  /// The manager is started anew: nothing is active.
  mutating func restart() { (active, jobs, news) = ([], [], []) }

  /// The messages since the last call.
  mutating func takeMessages() -> [String] {
    defer { messages = [] }
    return messages
  }

  /// The orders since the last call, such as `start editingText`.
  mutating func takeOrders() -> [String] {
    defer { orders = [] }
    return orders.map { "\($0.verb) \($0.unit.state)" }
  }
}
