import NorrisProtocol

/// A factor between 0.9 and 1.1 for each source of each machine, always the same, so that the machines of an office do
/// not all ask at one time.
package struct Jitter: Sendable {
    private let machine: String

    /// - Parameter machine: what tells this machine from others, such as the content of machine-id(5); only a hash of
    ///   it is used.
    package init(machine: String) {
        self.machine = machine
    }

    func applied(to interval: Duration, of source: String) -> Duration {
        let hash = stableHash(machine + "\n" + source)
        return interval * (0.9 + 0.2 * (Double(hash >> 11) / Double(1 << 53)))
    }
}
