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
    private let methods: [String: (description: MethodDescription, body: MethodBody)]
    private let administratorCheck: @Sendable (Peer) -> Bool
    private let requests = Atomic<Int>(0)

    /// - Precondition: there is exactly one body for each method of the table.
    package init(bodies: [String: MethodBody], isAdministrator: @escaping @Sendable (Peer) -> Bool) {
        var methods: [String: (description: MethodDescription, body: MethodBody)] = [:]
        for description in MethodTable.methods {
            guard let body = bodies[description.name] else {
                preconditionFailure("No body for \(description.name)")
            }
            methods[description.name] = (description, body)
        }
        precondition(methods.count == bodies.count, "A body for a method that is not in the table")
        self.methods = methods
        administratorCheck = isAdministrator
    }

    /// How many requests and notifications were well-formed so far.
    package var requestsTotal: Int {
        requests.load(ordering: .relaxed)
    }

    package func isAdministrator(_ peer: Peer) -> Bool {
        administratorCheck(peer)
    }

    func perform(
        _ request: Request, peer: Peer, subscription: Subscription, into json: inout JSONWriter
    ) throws(ResponseError) -> Deferred? {
        requests.add(1, ordering: .relaxed)
        guard let (description, body) = methods[request.method] else {
            throw .unknownMethod(request.method)
        }
        if description.isAdministrative && !isAdministrator(peer) {
            throw .permissionDenied(method: description.name)
        }
        let arguments = try description.arguments(from: request.params)
        return try body(Call(arguments: arguments, peer: peer, subscription: subscription, registry: self), &json)
    }
}
