/// Runs something until it ends or a moment has passed, whichever comes first; then it is cancelled, and waited for.
///
/// - Throws: what `body` throws; `timeout` when the moment has passed; ``UpstreamError/cancelled`` in a cancelled task.
func withDeadline<Value: Sendable>(
    _ deadline: ContinuousClock.Instant,
    orThrow timeout: UpstreamError,
    _ body: @escaping @Sendable () async throws(UpstreamError) -> Value
) async throws(UpstreamError) -> Value {
    let result = await withTaskGroup(of: Result<Value, UpstreamError>.self) { group in
        group.addTask {
            do throws(UpstreamError) {
                return .success(try await body())
            } catch {
                return .failure(error)
            }
        }
        group.addTask {
            do {
                try await Task.sleep(until: deadline, clock: .continuous)
                return .failure(timeout)
            } catch {
                return .failure(.cancelled)
            }
        }
        // Two children were added, so there is a first.
        let first = await group.next()!
        group.cancelAll()
        return first
    }
    return try result.get()
}

extension Duration {
    /// For a message: `10 s`, `250 ms`.
    var words: String {
        let milliseconds = components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000
        return milliseconds % 1000 == 0 ? "\(milliseconds / 1000) s" : "\(milliseconds) ms"
    }
}
