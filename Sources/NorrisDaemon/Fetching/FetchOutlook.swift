import NorrisPrefetch
import NorrisProtocol

/// What is fetched now, or when something will be.
struct FetchOutlook: Equatable {
    /// The sources that are being fetched, in the order of the configuration.
    var running: [String]
    /// When the next one begins; nil where none ever does.
    var next: Timestamp?

    /// In a few words, times in the daemon's time zone: with the day where they are not of the next 24 hours; empty
    /// where nothing is planned.
    func text(at now: Timestamp) -> String {
        guard running.isEmpty else { return "fetching " + running.joined(separator: ", ") }
        guard let next else { return "" }
        let isSoon = next.seconds - now.seconds < 86_400
        return "next fetch " + LocalDay.text(of: next, format: isSoon ? "%H:%M" : "%Y-%m-%d %H:%M")
    }
}

extension Fetching {
    var outlook: FetchOutlook {
        let schedules = sources.all.compactMap { source in
            prefetcher.schedule(of: source.name).map { (source.name, $0) }
        }
        return FetchOutlook(
            running: schedules.filter { $0.1.isRunning }.map(\.0), next: schedules.compactMap { $0.1.nextRunAt }.min()
        )
    }
}
