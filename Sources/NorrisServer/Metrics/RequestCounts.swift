/// How the requests went so far.
package struct RequestCounts: Sendable {
    /// The requests to one method.
    package struct Method: Sendable {
        /// A name of the table.
        package var name: String
        /// How many were well-formed, those that are not answered yet included.
        package var requests: Int
        /// Of those that are answered: until the result was ready to be sent.
        package var latency: Latency

        package init(name: String, requests: Int, latency: Latency) {
            self.name = name
            self.requests = requests
            self.latency = latency
        }
    }

    /// Sorted by name.
    package var methods: [Method]
    /// How many were to methods that are not in the table, whatever they were called.
    package var unknown: Int
    /// How many requests failed for which reason; lines that were no requests included.
    package var errors: [(reason: String, count: Int)]

    package init(methods: [Method], unknown: Int, errors: [(reason: String, count: Int)]) {
        self.methods = methods
        self.unknown = unknown
        self.errors = errors
    }
}
