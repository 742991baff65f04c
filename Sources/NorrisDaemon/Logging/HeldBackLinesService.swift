import NorrisPrefetch
import ServiceLifecycle

/// Says once a minute what was held back in the log.
struct HeldBackLinesService: Service {
    let sink: RateLimitedSink
    let clock: any WallClock

    func run() async throws {
        while (try? await cancelWhenGracefulShutdown { try await clock.sleep(for: .seconds(60)) }) != nil {
            sink.writeEnded()
        }
    }
}
