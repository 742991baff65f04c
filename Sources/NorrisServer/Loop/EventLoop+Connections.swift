import CEpoll
import Glibc
import Logging
import NorrisProtocol

/// How connections come and go, and what epoll(7) reports of them.
extension EventLoop {
    /// So many connections are accepted before others have their turns.
    private static let maximumAccepts = 64

    mutating func accept() {
        let flags = CInt(SOCK_NONBLOCK.rawValue) | CInt(SOCK_CLOEXEC.rawValue)
        for _ in 0..<EventLoop.maximumAccepts {
            var descriptor = accept4(listener, nil, nil, flags)
            if descriptor >= 0 {
                welcome(descriptor)
                continue
            }
            if errno == EINTR || errno == ECONNABORTED { continue }
            guard errno != EAGAIN else { return }
            // No more descriptors: the next connection is refused with the reserved one.
            if reserve >= 0 { close(reserve) }
            descriptor = accept4(listener, nil, nil, flags)
            let isNobodyWaiting = descriptor < 0 && errno == EAGAIN
            if descriptor >= 0 {
                refuse(descriptor, .busy("The daemon has no file descriptor left.", hint: "Try again later."))
            }
            reserve = open("/dev/null", O_RDONLY | O_CLOEXEC)
            if isNobodyWaiting { return }
            if descriptor < 0 || reserve < 0 {
                // It would be reported again and again.
                isPaused = true
                _ = control(EPOLL_CTL_MOD, listener, 0)
                return scheduleTick(at: now + 1_000_000_000)
            }
        }
    }

    /// Accepts again after a pause.
    mutating func resumeAccepting() {
        if reserve < 0 { reserve = open("/dev/null", O_RDONLY | O_CLOEXEC) }
        isPaused = false
        _ = control(EPOLL_CTL_MOD, listener, EPOLLIN.rawValue)
    }

    /// Serves a new connection, or says why not.
    private mutating func welcome(_ descriptor: CInt) {
        guard let peer = Peer(socket: descriptor) else {
            close(descriptor)
            return
        }
        if let refusal = refusal(of: peer) { return refuse(descriptor, refusal, uid: peer.uid) }
        guard control(EPOLL_CTL_ADD, descriptor, EPOLLIN.rawValue) else {
            return refuse(descriptor, .busy("The daemon has no more memory.", hint: "Try again later."))
        }
        nextGeneration += 1
        let id = ConnectionID(descriptor: descriptor, generation: nextGeneration)
        let subscription = Subscription(hub: server.events) { [inbox] in inbox.send(.events(id)) }
        let caller = Caller(
            peer: peer, subscription: subscription, isAdministrator: server.registry.isAdministrator
        )
        let slot = Int(descriptor)
        while connections.count <= slot { connections.append(nil) }
        let connection = UnsafeMutablePointer<Connection>.allocate(capacity: 1)
        connection.initialize(
            to: Connection(
                id: id, caller: caller, user: users.enter(peer.uid), machine: ConnectionStateMachine(now: now, tuning)
            )
        )
        connections[slot] = connection
        connectionCount += 1
        counters.connectionOpened()
        scheduleTick(at: now + tuning.idleTimeout.nanoseconds)
    }

    private func refusal(of peer: Peer) -> ResponseError? {
        let limits = server.limits()
        let isAdministrator = server.registry.isAdministrator(peer)
        if connectionCount >= limits.connections(forAdministrators: isAdministrator) {
            return .busy(
                "The daemon serves \(connectionCount) connections already.",
                hint: "Close some, or raise limits.connections in its configuration."
            )
        }
        if !isAdministrator, users.connections(of: peer.uid) >= limits.connectionsPerUser {
            return .busy(
                "This user has \(limits.connectionsPerUser) connections already.",
                hint: "Close some, or raise limits.connections_per_user in the daemon's configuration."
            )
        }
        return nil
    }

    /// Sends one error line and closes.
    private func refuse(_ descriptor: CInt, _ error: ResponseError, uid: uid_t? = nil) {
        counters.connectionRefused()
        server.logger.notice(
            "connection.refused",
            metadata: ["peer.uid": "\(uid.map { "\($0)" } ?? "unknown")", "reason": "\(error.message)"]
        )
        var line = JSONWriter()
        Response.write(id: .null, error: error, to: &line)
        line.newline()
        _ = line.withBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, CInt(MSG_NOSIGNAL)) }
        // Closing with bytes unread would tell the peer of a reset after the line (unix(7)), so what has come is read.
        var unread = Connection.count(descriptor, 0x541B)
        while unread > 0 {
            let count = recv(descriptor, input.baseAddress, input.count, CInt(MSG_DONTWAIT))
            guard count > 0 else { break }
            unread -= count
        }
        close(descriptor)
    }

    mutating func noteEvent(_ slot: Int, _ events: UInt32) {
        guard slot < connections.count, let c = connections[slot] else { return }
        if events & EPOLLOUT.rawValue != 0 { sendRest(slot) }
        guard connections[slot] == c, events & ~EPOLLOUT.rawValue != 0 else { return }
        if c.pointee.isGone || !c.pointee.machine.wantsInput, events & (EPOLLHUP.rawValue | EPOLLERR.rawValue) != 0 {
            // Reported again and again for a peer that has gone: it is noticed when the answer is there, or now if
            // there is something to send.
            if c.pointee.unsentBytes > 0 { return remove(slot) }
            setInterest(c, nil)
        } else if c.pointee.machine.wantsInput {
            c.pointee.isReadable = true
            turns.add(slot, of: c.pointee.user)
        } else {
            setInterest(c, (c.pointee.interest ?? 0) & ~EPOLLIN.rawValue)
        }
    }

    func updateInterest(_ c: UnsafeMutablePointer<Connection>) {
        var interest = c.pointee.interest ?? 0
        // What is not wanted is only taken back when it is reported, which spares most of these calls.
        if c.pointee.machine.wantsInput { interest |= EPOLLIN.rawValue }
        if c.pointee.unsentBytes > 0 {
            interest |= EPOLLOUT.rawValue
        } else {
            interest &= ~EPOLLOUT.rawValue
        }
        // A peer that has gone is always reported.
        if interest != 0 || c.pointee.interest != nil { setInterest(c, interest) }
    }

    /// - Parameter interest: nil for a socket that epoll(7) does not watch for now.
    private func setInterest(_ c: UnsafeMutablePointer<Connection>, _ interest: UInt32?) {
        guard c.pointee.interest != interest else { return }
        let operation = interest == nil ? EPOLL_CTL_DEL : c.pointee.interest == nil ? EPOLL_CTL_ADD : EPOLL_CTL_MOD
        c.pointee.interest = interest
        // Adding fails only where memory does; then the connection stays until its timeout.
        _ = control(operation, c.pointee.id.descriptor, interest ?? 0)
    }

    /// Closes a connection; one with a deferred request goes when the result is there.
    mutating func remove(_ slot: Int) {
        guard let c = connections[slot] else { return }
        c.pointee.machine.closed()
        c.pointee.caller.subscription.close()
        if c.pointee.unfinished?.waiting != nil {
            guard !c.pointee.isGone else { return }
            c.pointee.isGone = true
            c.pointee.drop()
            count(c)
            setInterest(c, nil)
            shutdown(c.pointee.id.descriptor, CInt(SHUT_RDWR))
            return
        }
        heldBytes -= c.pointee.counted
        connections[slot] = nil
        close(c.pointee.id.descriptor)
        users.leave(c.pointee.user)
        connectionCount -= 1
        counters.connectionClosed()
        c.deinitialize(count: 1)
        c.deallocate()
    }

    mutating func abortAll() {
        for slot in connections.indices { remove(slot) }
    }
}

/// How replies are sent, and how much is held for peers that do not take them.
extension EventLoop {
    /// Sends the replies that were made.
    mutating func flush() {
        guard !replies.isEmpty else { return }
        var start = 0
        for (slot, end, isLast) in replies {
            send(start..<end, to: slot, isLast)
            start = end
        }
        replies.removeAll(keepingCapacity: true)
        if json.count > EventLoop.keptCapacity {
            json = JSONWriter(capacity: EventLoop.keptCapacity)
        } else {
            json.removeAll()
        }
    }

    /// - Parameter isLast: whether the connection is closed behind them.
    private mutating func send(_ range: Range<Int>, to slot: Int, _ isLast: Bool) {
        // It may have been closed as the slowest of all.
        guard let c = connections[slot], !c.pointee.isGone else { return }
        c.pointee.machine.wrote(range.count)
        let isAlive = json.withBytes(from: range.lowerBound) { c.pointee.send($0[..<range.count]) }
        let unsent = c.pointee.unsentBytes
        count(c)
        guard isAlive, unsent > 0 || !isLast else { return remove(slot) }
        guard unsent > 0 else { return }
        c.pointee.isClosing = isLast
        c.pointee.machine.writabilityChanged(false)
        updateInterest(c)
        scheduleTick(at: now)
        closeSlowest(for: 0)
    }

    /// The kernel takes more of what is unsent.
    mutating func sendRest(_ slot: Int) {
        guard let c = connections[slot], c.pointee.unsentBytes > 0 else { return }
        guard c.pointee.sendRest() else { return remove(slot) }
        count(c)
        guard c.pointee.unsentBytes == 0 else { return }
        if c.pointee.isClosing { return remove(slot) }
        c.pointee.machine.writabilityChanged(true)
        turns.add(slot, of: c.pointee.user)
    }

    /// Notes how much is held for a connection now.
    mutating func count(_ c: UnsafeMutablePointer<Connection>) {
        let held = c.pointee.heldBytes
        heldBytes += held - c.pointee.counted
        c.pointee.counted = held
    }

    /// Closes the slowest readers until so many bytes more may be held: those that stand still longest first, and among
    /// equals those for which most is held. Replies that are being made count too.
    mutating func closeSlowest(for bytes: Int) {
        let reserved = (disk.running + network.running) * EventLoop.reserveForReply
        while heldBytes + reserved + bytes > tuning.maximumUnsent {
            var slowest: (slot: Int, since: Int, bytes: Int)?
            for slot in connections.indices {
                guard let c = connections[slot], c.pointee.counted > 0 else { continue }
                let candidate = (slot, c.pointee.machine.stalledSince ?? now, c.pointee.counted)
                if slowest.map({ (candidate.1, $0.bytes) < ($0.since, candidate.2) }) ?? true { slowest = candidate }
            }
            // What is running alone fits.
            guard let slowest else { return }
            remove(slowest.slot)
        }
    }
}
