import ServiceLifecycle
import UnixSignals

/// Reloads the configuration on SIGHUP.
struct ReloadService: Service {
    /// Taken from before the daemon says that it is ready.
    let signals: UnixSignalsSequence
    let reloader: Reloader

    func run() async throws {
        for await _ in signals.cancelOnGracefulShutdown() {
            // Logged where it fails; the daemon goes on with what it has.
            try? await reloader.reload()
        }
    }
}
