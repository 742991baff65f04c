package import NorrisProtocol
import Synchronization

/// One request that has passed every check of the table.
package struct Call: Sendable {
    package let arguments: Arguments
    package let peer: Peer
    /// The events of the connection that the request came on.
    package let subscription: Subscription
    fileprivate let registry: MethodRegistry

    /// Whether the peer may do what only administrators may.
    package var isAdministrator: Bool { registry.isAdministrator(peer) }
}

/// The rest of a method that has to wait for a disk or a network; gives the result as encoded JSON.
package typealias Deferred = @Sendable () async throws(ResponseError) -> [UInt8]

/// What a method does: writes its result at once and returns nil, or returns what is left to do.
///
/// It runs on the event loop, so it must not block; after an entry of a batch that had to wait it runs in a task, so it
/// must not count on the event loop's thread either. Where it throws, what it wrote is taken back.
package typealias MethodBody = @Sendable (Call, inout JSONWriter) throws(ResponseError) -> Deferred?

/// The methods of ``MethodTable`` with their bodies: dispatch, permission and parameters in the order of the contract.
package final class MethodRegistry: Sendable {
    /// A class, so that a look-up copies nothing but a reference.
    private final class Method: Sendable {
        let description: MethodDescription
        let body: MethodBody
        let meter = RequestMeter()

        init(_ description: MethodDescription, _ body: @escaping MethodBody) {
            self.description = description
            self.body = body
        }
    }

    private let methods: [String: Method]
    /// Of requests to methods that there are not.
    private let unknown = Atomic<Int>(0)
    /// Counted where replies are written (``Exchange``): not every error is that of a method.
    let errors = ErrorCounts()
    private let administratorCheck: @Sendable (Peer) -> Bool

    /// - Precondition: there is exactly one body for each method of the table.
    package init(bodies: [String: MethodBody], isAdministrator: @escaping @Sendable (Peer) -> Bool) {
        var methods: [String: Method] = [:]
        for description in MethodTable.methods {
            guard let body = bodies[description.name] else {
                preconditionFailure("No body for \(description.name)")
            }
            methods[description.name] = Method(description, body)
        }
        precondition(methods.count == bodies.count, "A body for a method that is not in the table")
        self.methods = methods
        administratorCheck = isAdministrator
    }

    /// How many requests and notifications were well-formed so far.
    package var requestsTotal: Int {
        methods.values.reduce(unknown.load(ordering: .relaxed)) { $0 + $1.meter.total }
    }

    /// How the requests went so far.
    package var counts: RequestCounts {
        let known = methods.map { $1.meter.counts(name: $0) }.sorted { $0.name < $1.name }
        return RequestCounts(methods: known, unknown: unknown.load(ordering: .relaxed), errors: errors.all)
    }

    package func isAdministrator(_ peer: Peer) -> Bool {
        administratorCheck(peer)
    }

    func perform(
        _ request: Request, peer: Peer, subscription: Subscription, into json: inout JSONWriter
    ) throws(ResponseError) -> Deferred? {
        guard let method = methods[request.method] else {
            unknown.add(1, ordering: .relaxed)
            throw .unknownMethod(request.method)
        }
        let start = method.meter.begin()
        var isDeferred = false
        defer { if !isDeferred { method.meter.end(start) } }
        if method.description.isAdministrative && !isAdministrator(peer) {
            throw .permissionDenied(method: method.description.name)
        }
        let arguments = try method.description.arguments(from: request.params)
        let call = Call(arguments: arguments, peer: peer, subscription: subscription, registry: self)
        guard let deferred = try method.body(call, &json) else { return nil }
        isDeferred = true
        return { () async throws(ResponseError) -> [UInt8] in
            defer { method.meter.end(start) }
            return try await deferred()
        }
    }
}
