import NorrisPrefetch
import ServiceLifecycle

/// Looks at the end of each minute how many requests came in it.
struct RequestCountService: Service {
    let health: Health
    let clock: any WallClock

    func run() async throws {
        while (try? await cancelWhenGracefulShutdown { try await clock.sleep(for: restOfMinute) }) != nil {
            _ = health.requests()
        }
    }

    private var restOfMinute: Duration {
        let (seconds, attoseconds) = health.uptime.components
        return .seconds(60) - Duration(secondsComponent: seconds % 60, attosecondsComponent: attoseconds)
    }
}
