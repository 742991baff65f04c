import CLinux
import Glibc
import Logging
import NorrisProtocol
import NorrisSystem

/// Accepting and closing connections, and the events of epoll(7).
extension EventLoop {
    mutating func accept() {
        let flags = CInt(SOCK_NONBLOCK.rawValue) | CInt(SOCK_CLOEXEC.rawValue)
        for _ in 0..<Limit.accepts {
            var descriptor = accept4(listener, nil, nil, flags)
            if descriptor >= 0 {
                welcome(descriptor)
                continue
            }
            if errno == EINTR || errno == ECONNABORTED { continue }
            guard errno != EAGAIN else { return }
            // All descriptors are in use: the reserved descriptor is used to refuse the next connection.
            if reserve >= 0 { close(reserve) }
            descriptor = accept4(listener, nil, nil, flags)
            let isNobodyWaiting = descriptor < 0 && errno == EAGAIN
            if descriptor >= 0 {
                refuse(descriptor, .busy("The daemon has no file descriptor left.", hint: "Try again later."))
            }
            reserve = open("/dev/null", O_RDONLY | O_CLOEXEC)
            if isNobodyWaiting { return }
            if descriptor < 0 || reserve < 0 {
                // Level-triggered epoll would report the listening socket in every iteration.
                acceptance = .paused
                _ = control(EPOLL_CTL_MOD, listener, 0)
                return scheduleTick(at: now + 1_000_000_000)
            }
        }
    }

    /// Accepts connections again after a pause.
    mutating func resumeAccepting() {
        if reserve < 0 { reserve = open("/dev/null", O_RDONLY | O_CLOEXEC) }
        acceptance = .open
        _ = control(EPOLL_CTL_MOD, listener, EPOLLIN.rawValue)
    }

    /// Serves a new connection, or refuses it with a reason.
    private mutating func welcome(_ descriptor: CInt) {
        guard let peer = Peer(socket: descriptor) else {
            close(descriptor)
            return
        }
        if let refusal = refusal(of: peer) { return refuse(descriptor, refusal, uid: peer.uid) }
        guard control(EPOLL_CTL_ADD, descriptor, EPOLLIN.rawValue) else {
            return refuse(descriptor, .busy("The daemon is out of memory.", hint: "Try again later."))
        }
        nextGeneration += 1
        let id = ConnectionID(descriptor: descriptor, generation: nextGeneration)
        let subscription = Subscription(hub: server.events, uid: peer.uid) { [inbox] in inbox.send(.events(id)) }
        let caller = Caller(peer: peer, subscription: subscription, isAdministrator: server.registry.isAdministrator)
        let slot = Int(descriptor)
        while connections.count <= slot { connections.append(nil) }
        let connection = UnsafeMutablePointer<Connection>.allocate(capacity: 1)
        connection.initialize(
            to: Connection(id: id, caller: caller, user: users.enter(peer.uid), now: now, tuning))
        connections[slot] = connection
        connectionCount += 1
        counters.acceptedConnections.add(1)
        counters.openConnections.add(1)
        scheduleTick(at: now + tuning.idleTimeout.nanoseconds)
    }

    private func refusal(of peer: Peer) -> ResponseError? {
        let limits = server.limits()
        let isAdministrator = server.registry.isAdministrator(peer)
        if connectionCount >= (isAdministrator ? limits.connections : max(1, limits.connections - Limit.reserved)) {
            return .busy(
                "The daemon serves \(connectionCount) connections already.",
                hint: "Close some, or raise limits.connections in its configuration.")
        }
        if !isAdministrator, users.connections(of: peer.uid) >= limits.connectionsPerUser {
            return .busy(
                "This user has \(limits.connectionsPerUser) connections already.",
                hint: "Close some, or raise limits.connections_per_user in the daemon's configuration.")
        }
        return nil
    }

    /// Sends one error line and closes the connection.
    private mutating func refuse(_ descriptor: CInt, _ error: ResponseError, uid: uid_t? = nil) {
        counters.refusedConnections.add(1)
        log(message: "connection.refused", error, uid: uid)
        var line = JSONWriter()
        Response.write(id: .null, error: error, to: &line)
        line.newline()
        _ = line.withBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, CInt(MSG_NOSIGNAL)) }
        Connection.discardInput(descriptor, using: input)
        close(descriptor)
    }

    /// Logs that a client reached a limit, rarely, because a client can do so in a loop.
    private mutating func log(message: Logger.Message, _ error: ResponseError, uid: uid_t?) {
        guard now >= nextLimitNotice else { return }
        nextLimitNotice = now + Limit.noticeGap
        let uid = uid.map { "\($0)" } ?? "unknown"
        server.logger.notice(message, metadata: ["peer.uid": "\(uid)", "reason": "\(error.message)"])
    }

    /// Handles events that epoll(7) reports for a connection.
    mutating func handle(_ events: UInt32, of slot: Int) {
        guard slot < connections.count, let c = connections[slot] else { return }
        if events & EPOLLOUT.rawValue != 0 { sendRest(slot) }
        guard connections[slot] == c, events & ~EPOLLOUT.rawValue != 0 else { return }
        if !c.pointee.wantsInput, events & (EPOLLHUP.rawValue | EPOLLERR.rawValue) != 0 {
            // Level-triggered epoll would report a disconnected peer in every iteration. The connection is removed when
            // the deferred request ends, or now if replies are unsent.
            if c.pointee.unsentBytes > 0 { return remove(slot) }
            setInterest(c, nil)
        } else if c.pointee.wantsInput {
            c.pointee.inputArrived()
            turns.add(slot, of: c.pointee.user)
        } else {
            setInterest(c, (c.pointee.interest ?? 0) & ~EPOLLIN.rawValue)
        }
    }

    func updateInterest(_ c: UnsafeMutablePointer<Connection>) {
        let interest = c.pointee.wantedInterest
        // epoll always reports a disconnected peer.
        if interest != 0 || c.pointee.interest != nil { setInterest(c, interest) }
    }

    /// - Parameter interest: nil to stop watching the socket.
    private func setInterest(_ c: UnsafeMutablePointer<Connection>, _ interest: UInt32?) {
        guard c.pointee.interest != interest else { return }
        let operation = interest == nil ? EPOLL_CTL_DEL : c.pointee.interest == nil ? EPOLL_CTL_ADD : EPOLL_CTL_MOD
        c.pointee.interest = interest
        // Adding fails only without memory; then the connection stays until its timeout.
        _ = control(operation, c.pointee.id.descriptor, interest ?? 0)
    }

    /// Closes a connection. A connection with a deferred request is removed when the request ends.
    mutating func remove(_ slot: Int) {
        guard let c = connections[slot] else { return }
        c.pointee.caller.subscription.close()
        guard c.pointee.waiting != nil else { return free(slot) }
        guard c.pointee.phase != .gone else { return }
        c.pointee.drop()
        count(c)
        setInterest(c, nil)
        shutdown(c.pointee.id.descriptor, CInt(SHUT_RDWR))
    }

    /// Closes the socket of a connection without a deferred request, and frees the connection.
    mutating func free(_ slot: Int) {
        guard let c = connections[slot] else { return }
        count(MemoryUse(), of: c)
        connections[slot] = nil
        close(c.pointee.id.descriptor)
        users.leave(c.pointee.user)
        connectionCount -= 1
        counters.openConnections.add(-1)
        c.deinitialize(count: 1)
        c.deallocate()
    }
}

/// Sending replies, and limiting the memory for peers that do not read them.
extension EventLoop {
    /// Sends the written replies.
    mutating func flush() {
        guard !replies.parts.isEmpty else { return }
        for (index, part) in replies.parts.enumerated() {
            let end = index + 1 < replies.parts.count ? replies.parts[index + 1].start : replies.json.count
            send(part.start..<end, to: part.slot, part.isLast)
        }
        replies.removeAll()
    }

    /// - Parameter isLast: whether to close the connection after the bytes.
    private mutating func send(_ range: Range<Int>, to slot: Int, _ isLast: Bool) {
        // The connection may have failed, or have been closed as the slowest of all.
        guard let c = connections[slot], c.pointee.phase != .gone else { return }
        let isAlive = replies.json.withBytes(in: range) { c.pointee.send($0[...]) }
        let unsent = c.pointee.unsentBytes
        guard isAlive, unsent > 0 || !isLast else { return remove(slot) }
        if unsent > 0 {
            updateInterest(c)
            scheduleTick(at: now)
        }
        count(c)
    }

    /// Sends unsent bytes, because the kernel accepts more.
    mutating func sendRest(_ slot: Int) {
        guard let c = connections[slot], c.pointee.unsentBytes > 0 else { return }
        guard c.pointee.sendRest() else { return remove(slot) }
        count(c)
        guard c.pointee.unsentBytes == 0 else { return }
        if c.pointee.phase == .closed { return remove(slot) }
        turns.add(slot, of: c.pointee.user)
    }

    /// Counts the memory of a connection. ``closeSlowest()`` follows in the same iteration of the loop.
    mutating func count(_ c: UnsafeMutablePointer<Connection>) { count(c.pointee.memory, of: c) }

    private mutating func count(_ memory: MemoryUse, of c: UnsafeMutablePointer<Connection>) {
        guard memory != c.pointee.counted else { return }
        users.count(memory, insteadOf: c.pointee.counted, of: c.pointee.user)
        c.pointee.counted = memory
    }

    /// The memory for replies that peers have not read or that are being written, and for the results of running
    /// requests.
    private var heldReplies: Int {
        queues.indices.reduce(users.replies) { $0 + queues[$1].running * Limit.workReserve }
    }

    /// Closes the slowest readers until the replies fit into their limit: of the user with the most memory, the
    /// connection that has read nothing for the longest time, and among equals the connection with the most memory.
    /// Called only between the turns, because a closed connection is freed.
    mutating func closeSlowest() {
        while heldReplies > tuning.replies {
            var slowest: (slot: Int, order: (Int, Int, Int))?
            for slot in connections.indices {
                guard let c = connections[slot], c.pointee.counted.replies > 0 else { continue }
                let since = c.pointee.stalledSince ?? now
                let order = (-users.memory(of: c.pointee.user).replies, since, -c.pointee.counted.replies)
                if slowest.map({ order < $0.order }) ?? true { slowest = (slot, order) }
            }
            // Without slow readers, the running requests fit into the limit.
            guard let slowest else { return }
            remove(slowest.slot)
        }
    }

    /// Closes a connection, with the reason, whose input has exceeded the share of its user: a line is incomplete,
    /// unanswered, or must wait for a disk or a network.
    mutating func closeInput(of slot: Int) {
        guard let c = connections[slot] else { return }
        c.pointee.dropInput()
        count(c)
        counters.count(EventLoop.tooMuchInput)
        log(message: "connection.closed", EventLoop.tooMuchInput, uid: c.pointee.caller.peer.uid)
        Connection.discardInput(c.pointee.id.descriptor, using: input)
        replies.write(to: slot) { json in
            Response.write(id: .null, error: EventLoop.tooMuchInput, to: &json)
            json.newline()
        }
        replies.end(slot)
    }

    private static let tooMuchInput = ResponseError.busy(
        "The requests that this user has sent and that wait take too much memory.",
        hint: "Send fewer or shorter ones at a time, and each with its end.")
}

/// Replies that are written and not sent, in one buffer. Every byte belongs to a connection, because only
/// ``write(to:_:)`` can write.
struct Replies: ~Copyable {
    private(set) var json = JSONWriter(capacity: Limit.keptReplies)
    /// The parts of the buffer, each with its connection. The last part is not complete.
    private(set) var parts: [(slot: Int, start: Int, isLast: Bool)] = []
    /// The connection of the last part; -1 without parts.
    private var slot = -1

    @inline(__always) mutating func write<Result>(to slot: Int, _ body: (inout JSONWriter) -> Result) -> Result {
        if slot != self.slot {
            parts.append((slot, json.count, false))
            self.slot = slot
        }
        return body(&json)
    }

    /// Marks a connection as to be closed when its replies are sent.
    mutating func end(_ slot: Int) {
        write(to: slot) { _ in }
        parts[parts.count - 1].isLast = true
    }

    mutating func removeAll() {
        // Usually there is one, for which removeLast is several times as fast.
        if parts.count == 1 { parts.removeLast() } else { parts.removeAll(keepingCapacity: true) }
        slot = -1
        if json.count > Limit.keptReplies { json = JSONWriter(capacity: Limit.keptReplies) } else { json.removeAll() }
    }
}
