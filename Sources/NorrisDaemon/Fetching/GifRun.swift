import NorrisProtocol
import NorrisStore
import Synchronization

/// What a run of the source `gifs` has fetched so far: where the budget cuts it short, the next one goes on from there.
final class GifRun: Sendable {
    private struct State {
        var settings = ""
        var fetched: [GifList: Timestamp] = [:]
    }

    private let state = Mutex(State())

    /// Goes on with a run, or begins one where the last was of other settings.
    func begin(_ settings: String) {
        state.withLock { if $0.settings != settings { $0 = State(settings: settings) } }
    }

    func note(_ list: GifList, at now: Timestamp) {
        state.withLock { $0.fetched[list] = now }
    }

    /// Whether this run has fetched a list.
    ///
    /// - Parameter notBefore: what was fetched earlier is of a run that nobody has ended.
    func has(_ list: GifList, notBefore: Timestamp) -> Bool {
        state.withLock { $0.fetched[list].map { $0 >= notBefore } ?? false }
    }

    func end() {
        state.withLock { $0.fetched = [:] }
    }
}
