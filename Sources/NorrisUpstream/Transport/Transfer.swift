import CCurl

/// One transfer of libcurl: options, received data, and result. Used on the fetch thread only.
final class Transfer {
    /// The limit for the header fields of one exchange, including the heads of a proxy and of statuses below 200.
    private static let maximumFields = 1000
    /// The limit for the same heads, in bytes.
    private static let maximumHead = 64 << 10
    /// The header fields that norrisd uses, in lower case; all others are skipped.
    private static let usedFields: Set<String> = [
        "age", "cache-control", "cache-status", "content-encoding", "content-type", "date", "etag", "expires",
        "last-modified", "location", "retry-after", "via", "warning", "x-cache", "x-ratelimit-remaining",
        "x-ratelimit-reset",
    ]
    /// The part of an error's body that is searched for a message, in bytes.
    private static let maximumErrorBody = 16 << 10

    let fetch: Fetch
    let id: UInt64
    let continuation: FetchThread.Continuation
    let easy: UnsafeMutableRawPointer
    var exchange = Exchange()
    /// Whether the connection exists, including TLS and the proxy's tunnel, so that the request is sent.
    private(set) var isConnected = false

    /// The reason why a callback ended the transfer: an error, or success because no further data is needed.
    private var stop: Result<Void, UpstreamError>?
    private var headBytes = 0
    private var headLines = 0
    /// The used fields of the current head.
    private var fields: [(name: String, value: String)] = []
    /// Whether the last line was a used field, which a folded line continues.
    private var continuesField = false
    private let memory: BodyMemory
    /// The largest possible body of the response, in bytes.
    private var largestBody: Int
    /// The time of the last receipt, and the number of bytes received until then.
    private var lastReceipt = ContinuousClock.now
    private var received: curl_off_t = 0
    private var lists: [UnsafeMutablePointer<curl_slist>] = []
    private let message: UnsafeMutablePointer<CChar>

    /// Starts a transfer. Returns nil if libcurl refuses it.
    init?(
        _ fetch: Fetch, _ id: UInt64, _ continuation: FetchThread.Continuation, in multi: UnsafeMutableRawPointer,
        _ memory: BodyMemory
    ) {
        guard let easy = curl_easy_init() else { return nil }
        (self.fetch, self.id, self.continuation, self.easy) = (fetch, id, continuation, easy)
        self.memory = memory
        largestBody = fetch.settings.maximumBody
        message = .allocate(capacity: Int(CURL_ERROR_SIZE))
        message.pointee = 0
        guard configure(), curl_multi_add_handle(multi, easy) == CURLM_OK else { return nil }
    }

    deinit {
        curl_easy_cleanup(easy)
        lists.forEach { curl_slist_free_all($0) }
        message.deallocate()
    }

    /// Sets the options. Returns false if libcurl refuses one.
    private func configure() -> Bool {
        let settings = fetch.settings
        let proxy = settings.proxy
        let connectTimeout = max(1, Int(settings.connectTimeout / .milliseconds(1)))
        let numbers: [(CURLoption, Int)] = [
            // A name lookup does not delay the end of its transfer.
            (CURLOPT_QUICK_EXIT, 1), (CURLOPT_NOSIGNAL, 1), (CURLOPT_CONNECTTIMEOUT_MS, connectTimeout),
            (CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_2TLS)), (CURLOPT_PATH_AS_IS, 1), (CURLOPT_FOLLOWLOCATION, 0),
            (CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2)), (CURLOPT_SSL_VERIFYPEER, 1),
            (CURLOPT_SSL_VERIFYHOST, 2),
            // Small, because no account counts the data that libcurl inflates from one buffer while a transfer is
            // paused. That data may be a thousand times the buffer.
            (CURLOPT_BUFFERSIZE, 4 << 10), (CURLOPT_NETRC, Int(CURL_NETRC_IGNORED.rawValue)),
        ]
        var texts: [(CURLoption, String?)] = [
            (CURLOPT_URL, fetch.url.description), (CURLOPT_PROTOCOLS_STR, "http,https"),
            (CURLOPT_USERAGENT, settings.userAgent), (CURLOPT_ACCEPT_ENCODING, "gzip"),
            // Empty texts make libcurl ignore the environment.
            (CURLOPT_PROXY, proxy.map { "http://\($0)" } ?? ""), (CURLOPT_NOPROXY, ""),
            (CURLOPT_PROXYUSERNAME, proxy?.user),
            (CURLOPT_PROXYPASSWORD, proxy?.user.map { _ in proxy?.password ?? "" }),
        ]
        if let path = settings.trustRoots { texts += [(CURLOPT_CAINFO, path), (CURLOPT_CAPATH, nil)] }
        var headers = ["Proxy-Connection:"]
        if !fetch.headers.contains(where: { $0.name.lowercased() == "accept" }) { headers.append("Accept:") }
        headers += fetch.headers.map { "\($0.name): \($0.value)" }

        // A transfer outlives its callbacks, because libcurl runs them only inside calls that use its easy handle.
        let pointer = Unmanaged.passUnretained(self).toOpaque()
        return numbers.allSatisfy { curl_set_long(easy, $0, $1) == CURLE_OK }
            && texts.allSatisfy { curl_set_string(easy, $0, $1) == CURLE_OK } && set(CURLOPT_HTTPHEADER, headers)
            // A request for a tunnel contains only the fields that the proxy needs.
            && set(CURLOPT_PROXYHEADER, ["Proxy-Connection:", "User-Agent:"])
            && curl_set_pointer(easy, CURLOPT_ERRORBUFFER, message) == CURLE_OK
            && [CURLOPT_WRITEDATA, CURLOPT_HEADERDATA, CURLOPT_PREREQDATA].allSatisfy {
                curl_set_pointer(easy, $0, pointer) == CURLE_OK
            }
            && curl_set_receiver(easy, CURLOPT_HEADERFUNCTION) { bytes, size, count, pointer in
                let line = UnsafeRawBufferPointer(start: bytes, count: size * count)
                return Transfer.of(pointer).takeHeader(line) ? line.count : -1
            } == CURLE_OK
            && curl_set_receiver(easy, CURLOPT_WRITEFUNCTION) { bytes, size, count, pointer in
                let chunk = UnsafeRawBufferPointer(start: bytes, count: size * count)
                return Transfer.of(pointer).takeBody(chunk)
            } == CURLE_OK
            && curl_set_prereq(easy) { pointer, peer, _, _, _ in
                Transfer.of(pointer).connected(to: peer.flatMap { IPAddress(String(cString: $0)) })
                    ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT
            } == CURLE_OK
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

    /// The transfer that `configure()` passed to libcurl; the pointer is never nil.
    private static func of(_ pointer: UnsafeMutableRawPointer?) -> Transfer {
        Unmanaged<Transfer>.fromOpaque(pointer!).takeUnretainedValue()
    }

    // MARK: Callbacks of libcurl

    /// Called before each request, on new and reused connections. Returns false to end the transfer.
    private func connected(to peer: IPAddress?) -> Bool {
        isConnected = true
        lastReceipt = .now
        // A peer without an address counts as private.
        guard let refusal = fetch.privatePeerRefusal, peer?.isPrivate ?? true else { return true }
        stop = .failure(refusal)
        return false
    }

    /// Reads a status line, a field, or the empty line that ends the head. Returns false to end the transfer.
    private func takeHeader(_ line: UnsafeRawBufferPointer) -> Bool {
        headBytes += line.count
        headLines += 1
        let isEnd = line.first == "\r" || line.first == "\n"
        let isStatus = line.starts(with: "HTTP/".utf8)
        if isEnd || isStatus { headLines -= 1 }
        guard headBytes <= Self.maximumHead, headLines <= Self.maximumFields else {
            let limit =
                headLines > Self.maximumFields
                ? "more than \(Self.maximumFields) header fields."
                : "more than \(Self.maximumHead >> 10) KiB of header fields."
            stop = .failure(UpstreamError(.decode, "\(fetch.url.hostAndPath) answered with \(limit)"))
            return false
        }
        // Skips the head of a proxy, which precedes the connection, and trailers, which follow the response's head.
        guard isConnected, exchange.status == 0 else { return true }
        if isStatus {
            // A new head begins. Earlier fields belong to a response with a status below 200.
            (fields, continuesField) = ([], false)
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
            let isGap = { (byte: UInt8) in isWhiteSpace(byte) }
            guard let first = bytes.firstIndex(where: { !isGap($0) }), let last = bytes.lastIndex(where: { !isGap($0) })
            else { return "" }
            return String(decoding: bytes[first...last], as: UTF8.self)
        }
        if line.first == " " || line.first == "\t" {
            // A folded line (RFC 9112, section 5.2).
            if continuesField, let last = fields.indices.last { fields[last].value += " " + text(line[...]) }
            return
        }
        continuesField = false
        // The longest used name has 21 bytes.
        guard let colon = line.prefix(32).firstIndex(of: UInt8(ascii: ":")) else { return }
        let name = text(line[..<colon]).lowercased()
        guard Self.usedFields.contains(name) else { return }
        continuesField = true
        fields.append((name, text(line[(colon + 1)...])))
    }

    /// Processes the complete head of the response. Returns false to end the transfer.
    private func endHead(_ status: Int) -> Bool {
        exchange.status = status
        exchange.headers = HTTPHeaderFields(fields)
        let length = Int(clamping: curl_get_offset(easy, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T))
        if status == 200, length > fetch.settings.maximumBody {
            stop = .failure(.tooLarge(fetch.url, fetch.settings.maximumBody))
        } else if redirectStatuses.contains(status), length != 0 {
            stop = .success(())
        }
        if status != 200 {
            largestBody = Self.maximumErrorBody
        } else if length >= 0, exchange.headers["content-encoding"] == nil {
            largestBody = length
        }
        return stop == nil
    }

    /// - Returns: the number of bytes taken, `CURL_WRITEFUNC_PAUSE` to pause the transfer, or -1 to end it.
    private func takeBody(_ chunk: UnsafeRawBufferPointer) -> Int {
        let isSuccess = exchange.status == 200
        let maximum = isSuccess ? fetch.settings.maximumBody : Self.maximumErrorBody
        let count = exchange.body.count + chunk.count
        guard count <= maximum else {
            stop = isSuccess ? .failure(.tooLarge(fetch.url, maximum)) : .success(())
            return -1
        }
        let lease = exchange.memory ?? memory.lease()
        exchange.memory = lease
        if count > lease.bytes {
            switch memory.take(count, of: max(largestBody, count), for: lease) {
            case .granted(let capacity): exchange.body.reserveCapacity(capacity)
            case .wait:
                memory.add(self)
                return Int(CURL_WRITEFUNC_PAUSE)
            case .refused:
                refuse()
                return -1
            }
        }
        exchange.body += chunk
        return chunk.count
    }

    // MARK: Waiting for memory

    private var isWaiting: Bool { memory.waiting.contains { $0 === self } }

    /// Continues a paused transfer if memory is available. Called outside the callbacks.
    func resume() {
        let lease = exchange.memory ?? memory.lease()
        // A count above `maximumSmall` requests the memory for the whole rest of the body.
        guard
            case .granted(let capacity) = memory.take(
                max(exchange.body.count, BodyMemory.maximumSmall) + 1,
                of: max(largestBody, BodyMemory.maximumSmall + 1), for: lease)
        else { return }
        exchange.memory = lease
        exchange.body.reserveCapacity(capacity)
        memory.remove(self)
        lastReceipt = .now
        curl_easy_pause(easy, CURLPAUSE_RECV_CONT)
    }

    /// Ends the transfer with an error, because its body gets no memory.
    func refuse() {
        stop = .failure(.busy(fetch.url.hostAndPath))
        exchange.body = []
        exchange.memory = nil
    }

    // MARK: Timeouts and result

    /// The time of the next check for timeouts. libcurl limits the time to connect.
    var timesOutAt: ContinuousClock.Instant {
        if case .failure? = stop { return lastReceipt }
        return isConnected && !isWaiting ? min(fetch.deadline, lastReceipt + fetch.settings.timeout) : fetch.deadline
    }

    /// The error of a transfer that must end; nil if the transfer continues. Called whenever data may have arrived.
    func timeout(at now: ContinuousClock.Instant) -> UpstreamError? {
        // Counted here, because the callbacks do not see compressed bytes that do not yet inflate to anything.
        let count = curl_get_offset(easy, CURLINFO_SIZE_DOWNLOAD_T) + curl_get_long(easy, CURLINFO_HEADER_SIZE)
        if count != received { (received, lastReceipt) = (count, now) }
        // The error of a callback, or of a transfer that was refused while paused.
        if case .failure(let failure)? = stop { return failure }
        guard timesOutAt <= now else { return nil }
        if isWaiting { return .busy(fetch.url.hostAndPath) }
        if fetch.deadline <= now { return .late(fetch.url, fetch.timeout) }
        return UpstreamError(.timeout, "\(fetch.url.authority) sent nothing for \(fetch.settings.timeout.text).")
    }

    /// The error of a transfer that ended with a code; nil if the response is complete.
    func failure(_ code: CURLcode) -> UpstreamError? {
        switch stop {
        case .failure(let failure): return failure
        case .success: return nil
        // libcurl reports success for a response that ends inside its head.
        case nil where code == CURLE_OK && exchange.status == 0: return .early(fetch.url)
        case nil: return code == CURLE_OK ? nil : UpstreamError(code, of: self, saying: String(cString: message))
        }
    }
}
