import NorrisProtocol
import NorrisTestSupport

@testable import NorrisUpstream

/// How the tests ask one kind of upstream for its posts.
struct AskingForPosts {
    let make: @Sendable (_ baseURL: String, _ transport: any HTTPTransport) -> any PostUpstream

    /// What is made of an answer's body.
    func batch(_ body: String) async throws(UpstreamError) -> PostBatch {
        let fetched = try await make("https://api.example", FixedTransport(body))
            .posts(validators: Validators(), timeout: .seconds(1))
        guard case .changed(let batch, _) = fetched else { throw UpstreamError(.decode, "Nothing has changed.") }
        return batch
    }

    /// Why nothing can be made of it; nil if it can.
    func failure(_ body: String, type: String = "application/json") async -> UpstreamError? {
        do throws(UpstreamError) {
            _ = try await make("https://api.example", FixedTransport(body, headers: [("Content-Type", type)]))
                .posts(validators: Validators(), timeout: .seconds(1))
            return nil
        } catch {
            return error
        }
    }

    /// Asks an upstream that gives one answer to everything.
    func ask(
        status: Int = 200, headers: [(String, String)] = [], body: String = "",
        sending validators: Validators = Validators(), path: String = "",
        _ check: (Result<Fetched<PostBatch>, UpstreamError>, FakeUpstream) -> Void
    ) async throws {
        try await Asking.run(FakeUpstream.start()) { asking in
            asking.upstream.setFault(
                .answer(
                    status: status, headers: [("Content-Type", "application/json; charset=utf-8")] + headers,
                    body: Array(body.utf8)
                )
            )
            let result: Result<Fetched<PostBatch>, UpstreamError>
            do throws(UpstreamError) {
                let api = make(asking.upstream.baseURL + path, asking.transport)
                result = .success(try await api.posts(validators: validators, timeout: Asking.longEnough))
            } catch {
                result = .failure(error)
            }
            check(result, asking.upstream)
        }
    }
}
