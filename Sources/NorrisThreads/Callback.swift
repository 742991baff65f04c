import Synchronization

/// A function that is set once and called from any thread.
///
/// A mutex must not contain the function itself: `withLock` passes its value as a generic `inout`, so Swift would wrap
/// the function in two further functions at each access, and calls would become slower until the stack overflows.
package final class Callback: Sendable {
    private struct State { var body: (@Sendable () -> Void)? }

    private let state = Mutex(State())

    package init() {}

    package func set(_ body: @escaping @Sendable () -> Void) { state.withLock { $0.body = body } }

    /// Calls the function; does nothing before ``set(_:)``.
    package func call() {
        // The struct and not the function, because a generic result would also be wrapped.
        let state = state.withLock { $0 }
        state.body?()
    }
}
