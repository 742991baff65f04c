import CCurl
import Glibc
import NorrisFetchProtocol
import NorrisProtocol
import NorrisText

/// A complete, inflated response.
struct HTTPResponse {
    /// The status; 0 for a document that was not fetched.
    var status = 0
    var headers: HTTPHeaderFields = []
    var body: [UInt8] = []
    /// The URL after all redirects.
    var url: HTTPURL
    /// The URL to which the first redirects lead, those that are permanent; nil without any.
    var movedTo: HTTPURL?
    /// The time of arrival, with which dates in header fields are compared.
    var receivedAt = Timestamp.now()
}

/// Header fields in the order of arrival. Names are compared without case (RFC 9110, section 5.1).
struct HTTPHeaderFields: ExpressibleByArrayLiteral {
    private let fields: [(name: String, value: String)]

    init(_ fields: [(name: String, value: String)]) { self.fields = fields }

    init(arrayLiteral elements: (String, String)...) { fields = elements.map { (name: $0.0, value: $0.1) } }

    subscript(_ name: String) -> String? { all(name).first }

    func all(_ name: String) -> [String] {
        let name = name.lowercased()
        return fields.filter { $0.name.lowercased() == name }.map(\.value)
    }
}

/// One GET request with its redirects, by libcurl (libcurl-easy(3)).
final class Download {
    /// The limit for the header fields of one response, including the heads of a proxy and of statuses below 200.
    private static let maximumFields = 1000
    /// The limit for the same heads, in bytes.
    private static let maximumHead = 64 << 10
    /// The part of an error's body that is searched for a message, in bytes.
    private static let maximumErrorBody = 16 << 10
    private static let maximumRedirects = 5
    /// Of `CURLOPT_CONNECTTIMEOUT_MS`.
    private static let longestConnect = 5_000

    private let request: FetchRequest
    private let base: HTTPURL
    /// The configured URL, from whose host all others are foreign.
    private let configured: HTTPURL
    /// Whether redirects may lead to private addresses: only if the configured host is written as a private address or
    /// as localhost. The addresses of a name do not count.
    private let allowsPrivate: Bool
    private let timeout: Int
    private let trustRoots: String?
    /// NULL only without memory, where any call of libcurl fails.
    private let easy = curl_easy_init()
    private let message = UnsafeMutablePointer<CChar>.allocate(capacity: Int(CURL_ERROR_SIZE))
    private var lists: [UnsafeMutablePointer<curl_slist>] = []

    /// The header fields that each host receives.
    private var commonHeaders: [(name: String, value: String)] = []
    /// The URL of the current request, which a redirect replaces.
    private var url: HTTPURL
    private var redirects = 0
    /// See ``HTTPResponse/movedTo``; nil as long as there are none.
    private var movedTo: HTTPURL?
    private var status = 0
    private var fields: [(name: String, value: String)] = []
    private var body: [UInt8] = []
    private var headBytes = 0
    private var headLines = 0
    /// Whether the connection of the current request exists, including TLS and the proxy's tunnel.
    private var isConnected = false
    /// The reason why a callback has ended the exchange: an error, or success because no further data is needed.
    private var stop: Result<Void, UpstreamError>?

    /// - Parameters:
    ///   - timeout: the limit of the whole exchange, in milliseconds.
    ///   - allowsPrivate: replaces the check of the configured host in tests, which have no public address.
    ///   - trustRoots: the path of the file of trusted certificates; nil for the system's.
    init(
        _ request: FetchRequest, from url: HTTPURL, timeout: Int, allowsPrivate: Bool? = nil, trustRoots: String? = nil
    ) {
        (self.request, self.url, self.timeout, self.trustRoots) = (request, url, timeout, trustRoots)
        base = url
        configured = request.feed.flatMap { sourceURL($0) } ?? url
        self.allowsPrivate = allowsPrivate ?? configured.hasPrivateHost
        message.pointee = 0
    }

    deinit {
        curl_easy_cleanup(easy)
        lists.forEach { curl_slist_free_all($0) }
        message.deallocate()
    }

    /// Sends the request and receives the response.
    ///
    /// - Throws: unless the status is a success, or 304 for a request with validators.
    func response(headers: [(name: String, value: String)]) throws(UpstreamError) -> HTTPResponse {
        commonHeaders = headers
        guard mayAsk(url) else { throw .refusal(of: url, from: configured, Self.privateRefusal) }
        guard configure(headers) else { throw UpstreamError(.offline, "norris-fetch is out of memory.") }
        var code = curl_easy_perform(easy)
        let isUnknown = code == CURLE_BAD_CONTENT_ENCODING && String(cString: message).hasPrefix("Unrecognized")
        if isUnknown || code == CURLE_WRITE_ERROR && stop == nil {
            // Some servers name the character encoding in `Content-Encoding`. libcurl reads one member of gzip only.
            (url, redirects, movedTo, isConnected) = (base, 0, nil, false)
            beginHead()
            _ = set(CURLOPT_HTTPHEADER, Download.lines(headers) + request.headers)
            _ = curl_set_long(easy, CURLOPT_HTTP_CONTENT_DECODING, 0)
            _ = curl_set_string(easy, CURLOPT_ACCEPT_ENCODING, nil)
            code = curl_easy_perform(easy)
        }
        let failure = failure(code)
        if case .failure(let refusal)? = stop { throw refusal }
        // A failure after the head is ignored here, because the status decides.
        if let failure, status == 0 { throw failure }
        return try response(failure, isConditional: headers.contains { $0.name.hasPrefix("If-") })
    }

    /// The last response without its body, complete or not; nil if none arrived.
    var lastHead: HTTPResponse? {
        status == 0 ? nil : HTTPResponse(status: status, headers: HTTPHeaderFields(fields), url: url)
    }

    private func response(_ failure: UpstreamError?, isConditional: Bool) throws(UpstreamError) -> HTTPResponse {
        let response = HTTPResponse(
            status: status, headers: HTTPHeaderFields(fields), body: body, url: url, movedTo: movedTo)
        switch status {
        case 304:
            guard isConditional else {
                throw .unusable("answered 304 to a request without validators", by: url)
            }
        case 200, 201, 203, 226:
            if var failure {
                // The response ended early.
                if failure.kind == .offline { failure.isDamage = true }
                throw failure
            }
        case 407 where request.proxy != nil && !url.isSecure: throw .refusedByProxy
        default: throw UpstreamError(response)
        }
        return response
    }

    // MARK: Options

    /// Returns false if libcurl refuses an option.
    private func configure(_ headers: [(name: String, value: String)]) -> Bool {
        let proxy = request.proxy
        let numbers: [(CURLoption, Int)] = [
            // A name lookup does not delay the end.
            (CURLOPT_QUICK_EXIT, 1), (CURLOPT_NOSIGNAL, 1), (CURLOPT_TIMEOUT_MS, max(1, timeout)),
            (CURLOPT_CONNECTTIMEOUT_MS, max(1, min(Download.longestConnect, timeout))),
            (CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_2TLS)), (CURLOPT_PATH_AS_IS, 1),
            (CURLOPT_FOLLOWLOCATION, 1), (CURLOPT_MAXREDIRS, Download.maximumRedirects),
            (CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2)), (CURLOPT_SSL_VERIFYPEER, 1),
            // CURL_NETRC_IGNORED, whose type depends on the version of libcurl.
            (CURLOPT_SSL_VERIFYHOST, 2), (CURLOPT_NETRC, 0),
        ]
        var texts: [(CURLoption, String?)] = [
            (CURLOPT_URL, url.description), (CURLOPT_PROTOCOLS_STR, "http,https"),
            (CURLOPT_REDIR_PROTOCOLS_STR, "http,https"), (CURLOPT_USERAGENT, request.userAgent),
            // Cookies of one exchange, in memory only: some pages redirect to themselves until they receive theirs.
            (CURLOPT_ACCEPT_ENCODING, "gzip"), (CURLOPT_COOKIEFILE, ""),
            // Empty texts make libcurl ignore the environment.
            (CURLOPT_PROXY, proxy.map { "http://\($0)" } ?? ""), (CURLOPT_NOPROXY, ""),
            (CURLOPT_PROXYUSERNAME, proxy?.user),
            (CURLOPT_PROXYPASSWORD, proxy?.user.map { _ in proxy?.password ?? "" }),
        ]
        if let trustRoots { texts += [(CURLOPT_CAINFO, trustRoots), (CURLOPT_CAPATH, nil)] }
        // The exchange outlives its callbacks, which libcurl runs only in curl_easy_perform(3).
        let pointer = Unmanaged.passUnretained(self).toOpaque()
        return numbers.allSatisfy { curl_set_long(easy, $0, $1) == CURLE_OK }
            && texts.allSatisfy { curl_set_string(easy, $0, $1) == CURLE_OK }
            && set(CURLOPT_HTTPHEADER, Download.lines(headers) + request.headers)
            // A request for a tunnel contains only the fields that the proxy needs.
            && set(CURLOPT_PROXYHEADER, ["Proxy-Connection:", "User-Agent:"])
            && curl_set_pointer(easy, CURLOPT_ERRORBUFFER, message) == CURLE_OK
            && [CURLOPT_WRITEDATA, CURLOPT_HEADERDATA, CURLOPT_PREREQDATA].allSatisfy {
                curl_set_pointer(easy, $0, pointer) == CURLE_OK
            }
            && curl_set_receiver(easy, CURLOPT_HEADERFUNCTION) { bytes, size, count, pointer in
                let line = UnsafeRawBufferPointer(start: bytes, count: size * count)
                return Download.of(pointer).takeHeader(line) ? line.count : -1
            } == CURLE_OK
            && curl_set_receiver(easy, CURLOPT_WRITEFUNCTION) { bytes, size, count, pointer in
                let chunk = UnsafeRawBufferPointer(start: bytes, count: size * count)
                return Download.of(pointer).takeBody(chunk) ? chunk.count : -1
            } == CURLE_OK
            && curl_set_prereq(easy) { pointer, peer, _, _, _ in
                Download.of(pointer).connected(to: peer.flatMap { IPAddress(String(cString: $0)) })
                    ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT
            } == CURLE_OK
    }

    private static func lines(_ headers: [(name: String, value: String)]) -> [String] {
        ["Proxy-Connection:"] + headers.map { "\($0.name): \($0.value)" }
    }

    private func set(_ option: CURLoption, _ lines: [String]) -> Bool {
        var list: UnsafeMutablePointer<curl_slist>?
        for line in lines {
            guard let longer = curl_slist_append(list, line) else { return false }
            if list == nil { lists.append(longer) }
            list = longer
        }
        return curl_set_list(easy, option, list) == CURLE_OK
    }

    /// The exchange that ``configure(_:)`` passed to libcurl; the pointer is never nil.
    private static func of(_ pointer: UnsafeMutableRawPointer?) -> Download {
        Unmanaged<Download>.fromOpaque(pointer!).takeUnretainedValue()
    }

    // MARK: Callbacks of libcurl

    /// Called before each request, on new and reused connections. Returns false to end the exchange.
    private func connected(to peer: IPAddress?) -> Bool {
        isConnected = true
        if redirects > 0 {
            // The request goes to the URL as libcurl has read it.
            let current = curl_get_string(easy, CURLINFO_EFFECTIVE_URL).flatMap { sourceURL(String(cString: $0)) }
            guard let current, current.authority == url.authority, current.isSecure == url.isSecure else {
                stop = .failure(unusableRedirect)
                return false
            }
            url = current
        }
        // With a proxy, the peer is the proxy. A peer without an address counts as private.
        guard !allowsPrivate, request.proxy == nil, url.host != configured.host, peer?.isPrivate ?? true else {
            return true
        }
        stop = .failure(.refusal(of: url, from: configured, Self.privateRefusal))
        return false
    }

    private static let privateRefusal = "redirects to private addresses are not followed"

    /// Whether a URL may be private. Behind a proxy, only names and literal addresses can be checked.
    private func mayAsk(_ url: HTTPURL) -> Bool {
        allowsPrivate || url.host == configured.host || !url.hasPrivateHost
    }

    private func beginHead() { (status, fields, body, headBytes, headLines) = (0, [], [], 0, 0) }

    /// Reads a status line, a field, or the empty line that ends the head. Returns false to end the exchange.
    private func takeHeader(_ line: UnsafeRawBufferPointer) -> Bool {
        headBytes += line.count
        headLines += 1
        let isEnd = line.first == "\r" || line.first == "\n"
        let isStatus = line.starts(with: "HTTP/".utf8)
        if isEnd || isStatus { headLines -= 1 }
        guard headBytes <= Download.maximumHead, headLines <= Download.maximumFields else {
            let limit =
                headLines > Download.maximumFields
                ? "\(Download.maximumFields) header fields" : "\(Download.maximumHead >> 10) KiB of header fields"
            stop = .failure(UpstreamError(.decode, "\(url.hostAndPath) answered with more than \(limit)."))
            return false
        }
        // Skips the head of a proxy, which precedes the connection, and trailers, which follow the response's head.
        guard isConnected, status == 0 else { return true }
        if isStatus {
            // A new head begins. Earlier fields belong to a response with a status below 200.
            fields = []
            return true
        }
        guard isEnd else {
            takeField(line)
            return true
        }
        let status = curl_get_long(easy, CURLINFO_RESPONSE_CODE)
        return status < 200 || endHead(status)
    }

    private func takeField(_ line: UnsafeRawBufferPointer) {
        func text(_ bytes: Slice<UnsafeRawBufferPointer>) -> String {
            guard let first = bytes.firstIndex(where: { !isWhiteSpace($0) }),
                let last = bytes.lastIndex(where: { !isWhiteSpace($0) })
            else { return "" }
            return String(decoding: bytes[first...last], as: UTF8.self)
        }
        if line.first == " " || line.first == "\t" {
            // A folded line (RFC 9112, section 5.2).
            if let last = fields.indices.last { fields[last].value += " " + text(line[...]) }
        } else if let colon = line.firstIndex(of: UInt8(ascii: ":")) {
            fields.append((text(line[..<colon]), text(line[(colon + 1)...])))
        }
    }

    /// Reads the complete head of a response, of which a redirect has another one. Returns false to end the exchange.
    private func endHead(_ status: Int) -> Bool {
        self.status = status
        do throws(UpstreamError) {
            if let target = try redirectTarget() {
                confineCookies()
                // libcurl would send them to the target too.
                if !request.headers.isEmpty, (target.authority, target.isSecure) != (url.authority, url.isSecure) {
                    guard set(CURLOPT_HTTPHEADER, Download.lines(commonHeaders)) else { throw unusableRedirect }
                }
                if [301, 308].contains(status), url == movedTo ?? base { movedTo = target }
                (url, redirects, isConnected) = (target, redirects + 1, false)
                beginHead()
                return true
            }
            // libcurl would follow these too.
            if 300...399 ~= status, HTTPHeaderFields(fields)["location"] != nil { stop = .success(()) }
            if isSuccess, curl_get_offset(easy, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T) > request.maximumBody {
                throw .tooLarge(url, request)
            }
        } catch {
            stop = .failure(error)
        }
        return stop == nil
    }

    /// The target of a redirect that libcurl is about to follow; nil for another response.
    private func redirectTarget() throws(UpstreamError) -> HTTPURL? {
        guard [300, 301, 302, 303, 307, 308].contains(status) else { return nil }
        guard let location = HTTPHeaderFields(fields)["location"] else { return nil }
        // A password never leaves its host.
        guard let target = NorrisFetch.redirectTarget(location, from: url),
            target.userInfo == nil || (target.userInfo, target.authority) == (url.userInfo, url.authority)
        else { throw unusableRedirect }
        guard target.isSecure || !url.isSecure else {
            throw .refusal(of: target, from: url, "redirects from https to http are not followed")
        }
        guard mayAsk(target) else { throw .refusal(of: target, from: url, Self.privateRefusal) }
        guard redirects < Download.maximumRedirects else {
            throw .refusal(of: target, from: url, "at most \(Download.maximumRedirects) redirects are followed")
        }
        return target
    }

    /// Restricts the cookies of this host with the attribute `Domain` to this host. A cookie is a line of a cookie
    /// file: a domain, whether its subdomains are included, and five other fields.
    private func confineCookies() {
        let list = curl_get_list(easy, CURLINFO_COOKIELIST)
        defer { curl_slist_free_all(list) }
        let lines = sequence(first: list) { $0?.pointee.next }.prefix { $0 != nil }
        var cookies = lines.compactMap {
            $0?.pointee.data.map { String(cString: $0).split(separator: "\t", omittingEmptySubsequences: false) }
        }
        for index in cookies.indices where cookies[index].count == 7 && cookies[index][1] == "TRUE" {
            cookies[index].replaceSubrange(0...1, with: [url.host[...], "FALSE"])
        }
        _ = curl_set_string(easy, CURLOPT_COOKIELIST, "ALL")
        for cookie in cookies { _ = curl_set_string(easy, CURLOPT_COOKIELIST, cookie.joined(separator: "\t")) }
    }

    private var unusableRedirect: UpstreamError {
        let fault = "redirects to something that is not an http or https URL; configure the final address."
        return UpstreamError(.http(status: status), "\(url.hostAndPath) \(fault)")
    }

    private var isSuccess: Bool { (200...299).contains(status) }

    /// Takes a part of the body. Returns false to end the exchange.
    private func takeBody(_ chunk: UnsafeRawBufferPointer) -> Bool {
        let maximum = isSuccess ? request.maximumBody : Download.maximumErrorBody
        guard body.count + chunk.count <= maximum else {
            stop = isSuccess ? .failure(.tooLarge(url, request)) : .success(())
            return false
        }
        body += chunk
        return true
    }

    // MARK: Errors

    /// The error of an exchange that ended with a code; nil if the response is complete.
    private func failure(_ code: CURLcode) -> UpstreamError? {
        switch stop {
        case .failure(let failure): return failure
        case .success: return nil
        // libcurl reports success for a response that ends inside its head.
        case nil where code == CURLE_OK && status == 0: return .early(url)
        case nil: return code == CURLE_OK ? nil : failure(code, String(cString: message))
        }
    }

    /// Describes a code of libcurl (libcurl-errors(3)). Its message `text` distinguishes the meanings of some codes.
    private func failure(_ code: CURLcode, _ text: String) -> UpstreamError {
        let host = url.authority
        switch code {
        case CURLE_OPERATION_TIMEDOUT where isConnected:
            return UpstreamError(.timeout, "no complete answer from \(host) within \(milliseconds: timeout).")
        case CURLE_OPERATION_TIMEDOUT:
            let limit = min(Download.longestConnect, timeout)
            return UpstreamError(.timeout, "No connection to \(host) within \(milliseconds: limit).")
        case CURLE_URL_MALFORMAT:
            return UpstreamError(.decode, "\(url.hostAndPath) is not a usable URL; correct the configured address.")
        case CURLE_BAD_CONTENT_ENCODING:
            return .unusable("answered with compressed content that is damaged", by: url)
        // A status line of HTTP/0.9 or of an unknown version, or invalid header fields. Each version of libcurl
        // describes a damaged chunk in other words.
        case CURLE_UNSUPPORTED_PROTOCOL, CURLE_WEIRD_SERVER_REPLY,
            CURLE_RECV_ERROR where text.hasPart("chunk"):
            return .unusable("answered with something that is not HTTP", by: url)
        case _ where isConnected: return .early(url)
        default: break
        }
        let proxyStatus = curl_get_long(easy, CURLINFO_HTTP_CONNECTCODE)
        if proxyStatus == 407 { return .refusedByProxy }
        if proxyStatus != 0 || code == CURLE_RECV_ERROR || code == CURLE_GOT_NOTHING {
            return UpstreamError(.offline, "The proxy does not connect to \(host).")
        }
        if let cause = cause(inTLS: code, text) {
            return UpstreamError(.offline, "\(host) cannot be reached: \(cause).")
        }
        // With a proxy, nothing else is connected to.
        let way = request.proxy.map { " through the proxy \($0)" } ?? ""
        return UpstreamError(.offline, "\(host) cannot be reached\(way): \(cause(code)).")
    }

    private func cause(_ code: CURLcode) -> String {
        if code == CURLE_COULDNT_RESOLVE_HOST || code == CURLE_COULDNT_RESOLVE_PROXY {
            return "the name cannot be resolved"
        }
        switch CInt(truncatingIfNeeded: curl_get_long(easy, CURLINFO_OS_ERRNO)) {
        case 0: return "the connection broke"
        case ECONNREFUSED: return "connection refused"
        case ECONNRESET, EPIPE: return "connection reset"
        case ENETUNREACH, EHOSTUNREACH: return "no route"
        case let code: return String(cString: strerror(code))
        }
    }

    /// The cause of a TLS failure; nil if the code is unrelated to TLS.
    private func cause(inTLS code: CURLcode, _ text: String) -> String? {
        switch code {
        case CURLE_PEER_FAILED_VERIFICATION where text.hasPart("subject name"):
            return "the certificate is for another name"
        case CURLE_PEER_FAILED_VERIFICATION:
            // X509_V_ERR_CERT_NOT_YET_VALID and X509_V_ERR_CERT_HAS_EXPIRED of X509_STORE_CTX_get_error(3).
            switch curl_get_long(easy, CURLINFO_SSL_VERIFYRESULT) {
            case 9: return "the certificate is not valid yet"
            case 10: return "the certificate has expired"
            default: return "the certificate is not trusted"
            }
        case CURLE_SSL_CACERT_BADFILE: return "the file of trusted certificates cannot be read; check SSL_CERT_FILE"
        case CURLE_SSL_CONNECT_ERROR where text.hasPart("wrong version number"):
            return SourceFailure.noTLS
        case CURLE_SSL_CONNECT_ERROR, CURLE_SSL_CERTPROBLEM, CURLE_SSL_CIPHER, CURLE_SSL_ISSUER_ERROR:
            return "TLS failed"
        default: return nil
        }
    }
}

extension DefaultStringInterpolation {
    /// A time in a message: `10 s`, `1.5 s`, `250 ms`.
    mutating func appendInterpolation(milliseconds count: Int) {
        let tenths = (count + 50) / 100
        appendLiteral(
            count < 1000 ? "\(count) ms" : tenths % 10 == 0 ? "\(tenths / 10) s" : "\(tenths / 10).\(tenths % 10) s")
    }
}
