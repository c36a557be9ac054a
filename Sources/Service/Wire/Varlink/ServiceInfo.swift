/// Answers calls of `org.varlink.service`, the interface that every Varlink service has.
public enum ServiceInfo {
  /// The results of `GetInfo`.
  private static var info: JSON {
    [
      "vendor": "keymoded", "product": "keymoded", "version": .string(keymodedVersion), "url": "",
      "interfaces": .array(interfaces.map { .string($0.name) }),
    ]
  }

  /// The interfaces of the daemon.
  private static let interfaces = [
    (name: "org.varlink.service", description: text),
    (name: ControllerInterface.name, description: ControllerInterface.description),
  ]

  /// The results of a call of `org.varlink.service`; `nil` if the call is for another method.
  ///
  /// - Throws: the error to reply with.
  public static func answer(_ call: Call) throws(VarlinkError) -> JSON? {
    switch call.method {
    case "org.varlink.service.GetInfo":
      try call.expectParameters([])
      return info
    case "org.varlink.service.GetInterfaceDescription":
      try call.expectParameters(["interface"])
      guard let name = call.parameters.first?.value.string else {
        throw .invalidParameter("interface")
      }
      guard let interface = interfaces.first(where: { $0.name == name }) else {
        throw .interfaceNotFound(name)
      }
      return ["description": .string(interface.description)]
    default: return nil
    }
  }

  /// The error for a call of a method that does not exist.
  public static func notFound(_ call: Call) -> VarlinkError {
    let dot = call.method.lastIndex(of: ".") ?? call.method.startIndex
    let name = String(call.method[..<dot])
    return interfaces.contains { $0.name == name }
      ? .methodNotFound(call.method) : .interfaceNotFound(name)
  }

  // The text is part of the protocol: https://varlink.org/Service
  private static let text = """
    # The Varlink Service Interface is provided by every varlink service. It
    # describes the service and the interfaces it implements.
    interface org.varlink.service

    # Get a list of all the interfaces a service provides and information
    # about the implementation.
    method GetInfo() -> (
      vendor: string,
      product: string,
      version: string,
      url: string,
      interfaces: []string
    )

    # Get the description of an interface that is implemented by this service.
    method GetInterfaceDescription(interface: string) -> (description: string)

    # The requested interface was not found.
    error InterfaceNotFound (interface: string)

    # The requested method was not found
    error MethodNotFound (method: string)

    # The interface defines the requested method, but the service does not
    # implement it.
    error MethodNotImplemented (method: string)

    # One of the passed parameters is invalid.
    error InvalidParameter (parameter: string)

    # Client is denied access
    error PermissionDenied ()

    # Method is expected to be called with 'more' set to true, but wasn't
    error ExpectedMore ()

    """
}

extension Call {
  /// Throws ``VarlinkError/invalidParameter(_:)`` with the first parameter that the method does not
  /// have: most likely the caller misspelt it.
  public func expectParameters(_ names: Set<String>) throws(VarlinkError) {
    for parameter in parameters where !names.contains(parameter.name) {
      throw .invalidParameter(parameter.name)
    }
  }

  /// The value of an optional parameter; `null` counts as not given.
  public func parameter(_ name: String) -> JSON? {
    parameters.first { $0.name == name && $0.value != .null }?.value
  }
}
