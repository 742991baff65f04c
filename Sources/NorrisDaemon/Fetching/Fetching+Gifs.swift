import NorrisPrefetch
import NorrisProtocol
import NorrisStore
import Synchronization

extension Fetching {
    /// Asks Giphy, if this is the time to. Equal questions at one time share a request.
    ///
    /// - Parameter limit: how many GIFs of a page are wanted.
    func ask(_ question: GifQuestion, limit: Int = 1) async -> GifAnswer {
        let source = sources.gifs
        guard let exhaustion = source.exhaustion else {
            return await gifQuestions.value(for: question) { await self.put(question, limit, to: source) }
        }
        return .none(failure(of: source.name) ?? exhaustion)
    }

    private func put(_ question: GifQuestion, _ limit: Int, to source: GifSource) async -> GifAnswer {
        let answer = Mutex(GifAnswer.none(nil))
        _ = await prefetcher.search(source.name, whileFresh: true) { (time) async throws(FetchFailure) in
            let given = try await source.answer(question, limit: limit, within: time)
            answer.withLock { $0 = given }
            if case .none = given { return false }
            return true
        }
        let given = answer.withLock { $0 }
        if case .none(nil) = given { return .none(failure(of: source.name)) }
        return given
    }
}
