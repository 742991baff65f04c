import Glibc
package import NorrisProtocol
import Synchronization

/// A request that has passed all checks.
package struct Call: Sendable {
    package let arguments: Arguments
    fileprivate let caller: Caller

    package var peer: Peer { caller.peer }

    package var uid: UInt32 { caller.peer.uid }

    /// The subscription of the request's connection.
    package var subscription: Subscription { caller.subscription }

    /// Whether the peer is an administrator.
    package var isAdministrator: Bool { caller.isAdministrator(peer) }
}

/// The rest of a method that must wait; returns the encoded result.
package struct Deferred: Sendable {
    package typealias Work = @Sendable () async throws(ResponseError) -> [UInt8]

    /// The resource that the request waits for. Each user has a limit of running requests for each resource.
    package enum Resource: Int, Sendable { case disk, network }

    let resource: Resource
    let work: Work

    package static func disk(_ work: @escaping Work) -> Deferred { Deferred(resource: .disk, work: work) }

    package static func network(_ work: @escaping Work) -> Deferred { Deferred(resource: .network, work: work) }
}

/// The code that performs a method.
package struct Handler: Sendable {
    /// Writes the result and returns nil, or returns the rest of the work.
    ///
    /// Runs on the event loop, so it must not block. If it throws, the written bytes are removed.
    package typealias Body = @Sendable (Call, inout JSONWriter) throws(ResponseError) -> Deferred?

    /// The name of the method.
    package let name: String
    package let body: Body

    /// - Parameter body: writes its result and returns nil, or returns the rest of the work.
    package init<M: Method>(
        _ method: M.Type,
        _ body: @escaping @Sendable (M.Parameters, Call, inout JSONWriter) throws(ResponseError) -> Deferred?
    ) {
        name = M.name
        self.body = { call, json throws(ResponseError) in try body(try M.Parameters(call.arguments), call, &json) }
    }

    /// A frequent method, whose body reads only the parameters that it needs.
    package init<M: Method>(_ method: M.Type, reading body: @escaping Body) { (name, self.body) = (M.name, body) }

    /// A method that always waits.
    package init<M: Method>(
        _ method: M.Type, deferred body: @escaping @Sendable (M.Parameters, Call) throws(ResponseError) -> Deferred
    ) { self.init(method) { parameters, call, _ throws(ResponseError) in try body(parameters, call) } }

    /// A method that is answered from disk. The parameters are read off the event loop when the request runs, because
    /// they may be many.
    package init<M: Method>(
        _ method: M.Type, onDisk body: @escaping @Sendable (M.Parameters, Call) async throws(ResponseError) -> M.Result
    ) {
        self.init(
            method,
            reading: { call, _ throws(ResponseError) in
                .disk { () async throws(ResponseError) -> [UInt8] in
                    try await body(try M.Parameters(call.arguments), call).jsonBytes
                }
            })
    }

    /// A method that is answered from memory.
    package init<M: Method>(
        _ method: M.Type, inMemory body: @escaping @Sendable (M.Parameters, Call) throws(ResponseError) -> M.Result
    ) {
        self.init(method) { parameters, call, json throws(ResponseError) in
            try body(parameters, call).encode(to: &json)
            return nil
        }
    }
}

/// The methods of ``MethodTable`` with their handlers. Checks the method, permission and parameters in the order of
/// PROTOCOL.md.
package final class MethodRegistry: Sendable {
    /// A method with its handler and meter. A class, so that a look-up copies only a reference.
    final class Entry: Sendable {
        let description: MethodDescription
        let body: Handler.Body
        let meter: RequestMeter
        private let name: [UInt8]

        init(_ description: MethodDescription, _ body: @escaping Handler.Body, _ meter: RequestMeter) {
            self.description = description
            self.body = body
            self.meter = meter
            name = Array(description.name.utf8)
        }

        func hasName(_ bytes: UnsafeRawBufferPointer) -> Bool {
            name.withUnsafeBytes { name in
                // Not nil, because a method's name is not empty.
                name.count == bytes.count && memcmp(name.baseAddress!, bytes.baseAddress!, name.count) == 0
            }
        }
    }

    /// In the order of ``MethodTable``.
    private let methods: [Entry]
    let counters: ServerCounters
    let isAdministrator: @Sendable (Peer) -> Bool

    /// - Precondition: there is exactly one body for each method of the table.
    package init(
        bodies: [String: Handler.Body], counters: ServerCounters = ServerCounters(),
        isAdministrator: @escaping @Sendable (Peer) -> Bool
    ) {
        precondition(bodies.count == MethodTable.methods.count, "A body for a method that is not in the table")
        self.counters = counters
        methods = zip(MethodTable.methods, counters.methods).map { description, meter in
            guard let body = bodies[description.name] else { preconditionFailure("No body for \(description.name)") }
            return Entry(description, body, meter)
        }
        self.isAdministrator = isAdministrator
    }

    /// The method with a name; nil for an unknown method, which is counted.
    func method(named name: JSONValue) -> Entry? {
        guard let text = name.plainText else {
            var text = name.text ?? ""
            return text.withUTF8 { method(named: UnsafeRawBufferPointer($0)) }
        }
        return method(named: text)
    }

    private func method(named name: UnsafeRawBufferPointer) -> Entry? {
        // A comparison of the lengths excludes most of the few methods.
        for method in methods where method.hasName(name) { return method }
        counters.unknownRequests.add(1)
        return nil
    }

    /// Checks permission and parameters, and calls the body.
    @inline(__always) func perform(
        _ method: Entry, _ caller: Caller, into json: inout JSONWriter,
        _ arguments: () throws(ResponseError) -> Arguments
    ) throws(ResponseError) -> Deferred? {
        if method.description.isAdministrative && !isAdministrator(caller.peer) { throw .permissionDenied }
        return try method.body(Call(arguments: try arguments(), caller: caller), &json)
    }
}
