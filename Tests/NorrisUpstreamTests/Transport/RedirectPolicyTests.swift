import Testing

@testable import NorrisUpstream

struct RedirectPolicyTests {
    private let url = HTTPURL("https://h/x/y?api_key=secret")!  // a literal

    private func outcome(
        _ status: Int, _ location: String?, from url: HTTPURL? = nil, mayBePrivate: Bool = true
    ) -> Result<HTTPURL?, UpstreamError> {
        var policy = RedirectPolicy()
        do throws(UpstreamError) {
            return .success(
                try policy.target(
                    of: url ?? self.url, status: status, location: location, mayBePrivate: mayBePrivate
                )
            )
        } catch {
            return .failure(error)
        }
    }

    @Test(arguments: [301, 302, 303, 307, 308])
    func redirectsAreFollowed(status: Int) {
        #expect(outcome(status, "https://other/z") == .success(HTTPURL("https://other/z")))
        #expect(outcome(status, "../z?q") == .success(HTTPURL("https://h/z?q")))
    }

    @Test(arguments: [200, 204, 300, 304, 305, 306, 400, 404, 503])
    func otherStatusesAreNoRedirects(status: Int) {
        #expect(outcome(status, "https://other/z") == .success(nil))
    }

    @Test(arguments: [nil, "ftp://h/", "javascript:alert(1)", "https://u:p@h/", "https://h/\u{7}"])
    func aRedirectToNowhereIsAnError(location: String?) throws {
        guard case .failure(let error) = outcome(302, location) else {
            Issue.record("It was followed")
            return
        }
        #expect(error.kind == .http(status: 302))
        #expect(error.message.hasPrefix("h/x/y redirects, but to no http or https URL"))
        #expect(!error.isRetryable)
    }

    @Test func onlySecureToSecureIsFollowed() throws {
        let plain = HTTPURL("http://h/x")
        for (from, to) in [(nil, "http://o/p?key=secret"), (plain, "http://o/p"), (plain, "https://o/p")] {
            guard case .failure(let error) = outcome(301, to, from: from) else {
                Issue.record("It was followed to \(to)")
                continue
            }
            #expect(error.kind == .http(status: 301))
            #expect(error.message.contains("redirects to \(to.prefix { $0 != "?" }), and only redirects from https"))
            #expect(error.message.contains("; configure "))
            #expect(!error.message.contains("secret"))
        }
    }

    @Test func theFourthIsAnError() throws {
        var policy = RedirectPolicy()
        for _ in 1...3 {
            #expect(try policy.target(of: url, status: 302, location: "again") != nil)
        }
        let error = #expect(throws: UpstreamError.self) {
            try policy.target(of: url, status: 302, location: "again")
        }
        #expect(error?.message.contains("no more than 3 redirects") == true)
        #expect(error?.kind == .http(status: 302))
    }

    @Test func aPrivateNameIsRefusedWhereItMatters() {
        #expect(outcome(302, "https://127.0.0.1/", mayBePrivate: true) == .success(HTTPURL("https://127.0.0.1/")))
        guard case .failure(let error) = outcome(302, "https://127.0.0.1/", mayBePrivate: false) else {
            Issue.record("It was followed")
            return
        }
        #expect(error.message.contains("a private address is not followed"))
    }
}
