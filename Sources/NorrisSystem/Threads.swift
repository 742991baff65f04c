import Glibc

/// Runs a body on a new, detached thread (pthread_create(3)). The thread alone owns what the body captures.
///
/// - Returns: 0, or a number of errno(3) where no thread can be created now.
package func startThread(_ body: @escaping () -> Void) -> CInt {
    final class Start {
        let body: () -> Void
        init(_ body: @escaping () -> Void) { self.body = body }
    }
    var thread = pthread_t()
    // Owned by the thread from here on.
    let start = Unmanaged.passRetained(Start(body))
    let code = pthread_create(&thread, nil, { argument in
        // Never nil: what is retained above is passed.
        Unmanaged<Start>.fromOpaque(argument!).takeRetainedValue().body()
        return nil
    }, start.toOpaque())
    if code == 0 { pthread_detach(thread) } else { start.release() }
    return code
}
