import ServiceLifecycle
import SystemdIntegration

/// Keeps the service manager's status line true, and says when the daemon stops.
struct NotifierService: Service {
    let notifier: Notifier
    let health: Health

    func run() async throws {
        var shown = ""
        while !Task.isShuttingDownGracefully, !Task.isCancelled {
            try? await cancelWhenGracefulShutdown { try await Task.sleep(for: .seconds(10)) }
            let summary = health.summary
            if summary != shown, !Task.isShuttingDownGracefully {
                notifier.status(summary)
                shown = summary
            }
        }
        notifier.stopping(status: "stopping")
    }
}
