import NorrisPrefetch
import NorrisProtocol
import NorrisServer
import ServiceLifecycle
import SystemdIntegration

/// Keeps the service manager's status line true, tells subscribers how the daemon is, and says when it stops.
struct NotifierService: Service {
    let notifier: Notifier
    let health: Health
    let events: EventHub
    /// Set when there may be something new to tell.
    let changes: WakeSignal

    func run() async throws {
        var shown = ""
        var condition = Condition(faults: health.faults)
        await changes.repeatUntilStopped {
            await changes.wait()
            guard !Task.isShuttingDownGracefully else { return }
            let line = health.statusLine
            if line != shown {
                notifier.status(line)
                shown = line
            }
            if let phase = condition.change(to: health.faults) {
                events.publish(.server(phase))
            }
        }
        notifier.stopping(status: "stopping")
    }

    /// Whether something was wrong when it was last looked at.
    struct Condition {
        private var isDegraded: Bool

        init(faults: [String]) {
            isDegraded = !faults.isEmpty
        }

        /// What to tell of it; nil where it is as it was.
        mutating func change(to faults: [String]) -> Event.Phase? {
            guard isDegraded == faults.isEmpty else { return nil }
            isDegraded = !faults.isEmpty
            return isDegraded ? .degraded : .ok
        }
    }
}
