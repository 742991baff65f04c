import CLinux
import Glibc
import NorrisProtocol
import NorrisSystem

/// The thread that owns the listening socket and all connections (epoll(7)).
///
/// Connections with work take turns (``FairQueue``). In its turn a ``Connection`` reads once, answers lines until its
/// ``Turn`` is over, and sends the replies. ``Exchange`` decides about a line. All of this runs on one thread, so there
/// are no locks; other threads send messages to ``Inbox``.
struct EventLoop: ~Copyable {
    let server: Server
    let tuning: Server.Tuning
    let counters: ServerCounters
    private let exchange: Exchange
    let inbox: Inbox
    /// Runs deferred requests and the heartbeat.
    private let tasks: AsyncStream<Server.Work>.Continuation
    private let epoll: CInt
    var listener: CInt
    /// Closed to accept and refuse a connection when all descriptors are in use.
    var reserve: CInt
    /// Whether new connections are accepted.
    enum Acceptance {
        case open
        /// No connection is accepted for a second, because descriptors or memory are exhausted.
        case paused
        /// The daemon stops, and the listening socket is closed.
        case ended
    }

    var acceptance = Acceptance.open

    /// Indexed by descriptor. Each connection is allocated when accepted and freed in ``remove(_:)``; only this thread
    /// uses it.
    var connections: [UnsafeMutablePointer<Connection>?] = []
    var connectionCount = 0
    var nextGeneration: UInt64 = 0
    var users = UserTable()
    var turns = FairQueue()
    /// Indexed by ``Deferred/Resource``.
    var queues: [2 of WorkQueue] = [WorkQueue(maximumBesideOthers: Limit.diskWorkBesideOthers), WorkQueue()]

    /// The replies since the last ``flush()``. They are sent together, so that a peer that waits wakes up once, with
    /// the replies of others already sent.
    var replies = Replies()
    let input = UnsafeMutableRawBufferPointer.allocate(byteCount: 65_536, alignment: 16)
    /// Memory for the input of the next connection that has none, because idle connections have none.
    private var spareInput: [UInt8] = []

    /// In nanoseconds of the monotonic clock, as all times here.
    private(set) var now = monotonicNanoseconds()
    /// The earliest time at which a client that reached a limit is logged again.
    var nextLimitNotice = 0
    private var nextTick = Int.max
    private var nextBeat = Int.max
    /// The end of the current stage of a stop; nil while the daemon serves. In the first stage connections may finish
    /// all requests that they have sent, in the second one only requests that wait for a network. The loop ends when no
    /// connection is left.
    private var stageEnd: Int?
    /// Whether the first stage of a stop has ended.
    private var hasCut = false

    /// - Parameter listener: closed by the loop.
    init(
        _ server: Server, listener: CInt, inbox: Inbox, tasks: AsyncStream<Server.Work>.Continuation
    ) throws(SystemError) {
        self.server = server
        self.listener = listener
        self.inbox = inbox
        self.tasks = tasks
        (tuning, counters) = (server.tuning, server.registry.counters)
        exchange = Exchange(registry: server.registry)
        reserve = open("/dev/null", O_RDONLY | O_CLOEXEC)
        epoll = epoll_create1(CInt(EPOLL_CLOEXEC))
        guard epoll >= 0 else { throw SystemError("epoll_create1") }
        for descriptor in [listener, inbox.descriptor] {
            guard control(EPOLL_CTL_ADD, descriptor, EPOLLIN.rawValue) else {
                throw SystemError("epoll_ctl")
            }
        }
        if server.heartbeat != nil { nextBeat = now }
    }

    deinit {
        for case let connection? in connections {
            connection.pointee.caller.subscription.close()
            close(connection.pointee.id.descriptor)
            connection.deinitialize(count: 1)
            connection.deallocate()
        }
        input.deallocate()
        if listener >= 0 { close(listener) }
        if reserve >= 0 { close(reserve) }
        if epoll >= 0 { close(epoll) }
    }

    /// Serves until a message ends the loop.
    mutating func run() {
        withUnsafeTemporaryAllocation(of: epoll_event.self, capacity: 256) { events in
            // Not nil, because the buffer has 256 elements.
            let base = events.baseAddress!
            var isRunning = true
            while isRunning {
                let count = epoll_wait(epoll, base, 256, timeout())
                now = monotonicNanoseconds()
                var hasMessages = false
                for index in 0..<max(0, Int(count)) {
                    let event = base[index]
                    if event.data.fd == listener {
                        accept()
                    } else if event.data.fd == inbox.descriptor {
                        hasMessages = true
                    } else {
                        handle(event.events, of: Int(event.data.fd))
                    }
                }
                if hasMessages { isRunning = handleMessages() }
                serveTurns()
                closeSlowest()
                startWork()
                if now >= nextBeat { beat() }
                if now >= nextTick { tick() }
                if let end = stageEnd {
                    if now >= end { cut() }
                    if connectionCount == 0 { isRunning = false }
                }
            }
        }
        inbox.close()
    }

    // MARK: Time

    /// The timeout for epoll_wait(2), in milliseconds.
    private func timeout() -> CInt {
        if !turns.isEmpty { return 0 }
        let next = min(nextTick, nextBeat, stageEnd ?? .max)
        if next == .max { return -1 }
        // `now` is the time of the last turn, at most some milliseconds ago.
        return CInt(clamping: max(0, (next - now + 999_999) / 1_000_000))
    }

    private mutating func beat() {
        guard let heartbeat = server.heartbeat else { return }
        tasks.yield(heartbeat.beat)
        nextBeat = now + heartbeat.interval.nanoseconds
    }

    /// Closes connections that have timed out, and schedules the next check.
    private mutating func tick() {
        if acceptance == .paused { resumeAccepting() }
        var earliest = Int.max
        for slot in connections.indices {
            guard let c = connections[slot], c.pointee.phase != .gone else { continue }
            let queued = c.pointee.unsentBytes > 0 ? c.pointee.bytesQueued : 0
            if c.pointee.hasExpired(now: now, queuedBytes: queued) {
                remove(slot)
            } else {
                earliest = min(earliest, c.pointee.nextCheck(now: now))
                if c.pointee.hasEvents { count(c) }
            }
        }
        nextTick = .max
        if earliest < .max { scheduleTick(at: earliest) }
    }

    mutating func scheduleTick(at time: Int) { nextTick = min(nextTick, max(time, now + tuning.tick.nanoseconds)) }

    func control(_ operation: CInt, _ descriptor: CInt, _ events: UInt32) -> Bool {
        var event = epoll_event()
        event.events = events
        event.data.fd = descriptor
        return epoll_ctl(epoll, operation, descriptor, &event) == 0
    }

    // MARK: Turns

    private mutating func serveTurns() {
        // New requests are read about every millisecond.
        let end = now + Limit.turnTime
        while now < end, let slot = turns.next() {
            serveTurn(of: slot)
            if replies.json.count >= Limit.unsentReplies { flush() }
        }
        flush()
    }

    private mutating func serveTurn(of slot: Int) {
        guard let c = connections[slot], c.pointee.phase != .gone else { return }
        let start = replies.json.count
        let caller = c.pointee.caller
        let wasWaiting = c.pointee.isWaiting
        var turn = Turn(start: now)
        var isDone = false
        while !isDone, !turn.isOver, replies.json.count - start < Limit.turnReplies {
            switch c.pointee.next() {
            case .write(let events):
                replies.write(to: slot) { json in
                    for line in events { line.withUnsafeBytes { json.raw(lines: $0) } }
                }
                turn.spend()
            case .answer(let line):
                let rest = replies.write(to: slot) { exchange.answer(line, of: caller, &turn, into: &$0) }
                c.pointee.answered(rest: rest, now: now)
            case .proceed(let line):
                let rest = replies.write(to: slot) { exchange.proceed(line, of: caller, &turn, into: &$0) }
                c.pointee.answered(rest: rest, now: now)
            case .refuseLongLine:
                replies.write(to: slot) { exchange.refuseLongLine(into: &$0) }
                turn.spend()
            case .read: c.pointee.receive(using: input, spare: &spareInput, now: now)
            case .wait: isDone = true
            case .close:
                replies.end(slot)
                isDone = true
            }
        }
        turn.finish()
        now = turn.time
        if !isDone { turns.add(slot, of: c.pointee.user) }
        c.pointee.releaseInput(isDone: isDone, to: &spareInput)
        limitInput(of: c, isDeferred: !wasWaiting && c.pointee.isWaiting)
        updateInterest(c)
    }

    /// Counts the memory of a connection after its turn. Closes the connection if its user's input exceeds its share.
    /// Otherwise queues a request that was deferred in the turn.
    private mutating func limitInput(of c: UnsafeMutablePointer<Connection>, isDeferred: Bool) {
        let slot = Int(c.pointee.id.descriptor)
        let before = c.pointee.counted.input
        count(c)
        // A queued request stays in memory, even if its connection is closed.
        if isDeferred || c.pointee.counted.input > before, users.exceedsShare(c.pointee.user, of: tuning.input) {
            closeInput(of: slot)
        } else if isDeferred, let line = c.pointee.unfinished, let request = line.waiting {
            // A partly answered batch uses memory until it is done.
            queues[request.resource.rawValue].add(slot, of: c.pointee.user, first: line.heldBytes > 1024, now: now)
        }
    }

    // MARK: Deferred requests

    private mutating func startWork() {
        for index in queues.indices {
            while let slot = queues[index].next(now: now) {
                if let user = start(slot) { queues[index].began(of: user) }
            }
        }
    }

    /// Starts the deferred request of a connection, or drops the request if a stop has cut the connection.
    ///
    /// - Returns: the user of a request that began.
    private mutating func start(_ slot: Int) -> Int? {
        // A connection with a deferred request stays until the request ends, even if the peer has disconnected.
        guard let c = connections[slot], let request = c.pointee.waiting else { return nil }
        if hasCut, c.pointee.phase == .gone {
            free(slot)
            return nil
        }
        tasks.yield { [inbox, id = c.pointee.id, work = request.work] in await inbox.run(work, of: id) }
        return c.pointee.user
    }

    /// - Returns: false if the loop must end at once.
    private mutating func handleMessages() -> Bool {
        for message in inbox.removeAll() {
            switch message {
            case .result(let id, let result): finishRequest(of: id, result)
            case .events(let id):
                guard let slot = slot(of: id), let c = connections[slot] else { continue }
                c.pointee.eventsArrived()
                turns.add(slot, of: c.pointee.user)
            case .drain: drain()
            case .abort: return false
            }
        }
        return true
    }

    private func slot(of id: ConnectionID) -> Int? {
        let slot = Int(id.descriptor)
        guard slot < connections.count, let c = connections[slot], c.pointee.id == id else { return nil }
        return slot
    }

    /// Writes the result of a deferred request.
    private mutating func finishRequest(of id: ConnectionID, _ result: Result<[UInt8], ResponseError>) {
        guard let slot = slot(of: id), let c = connections[slot], let line = c.pointee.unfinished,
            let request = line.waiting
        else { return }
        queues[request.resource.rawValue].ended(of: c.pointee.user)
        let rest = replies.write(to: slot) { exchange.finish(line, result, into: &$0) }
        if c.pointee.phase == .gone { return free(slot) }
        c.pointee.answered(rest: rest, now: now)
        count(c)
        updateInterest(c)
        turns.add(slot, of: c.pointee.user)
        // After a long reply, no other reply is written until the peer's pace is known.
        if replies.json.count >= Limit.turnReplies { flush() }
    }

    // MARK: The end

    /// Begins a stop: accepts no connection, lets every connection answer its received lines, and closes it.
    private mutating func drain() {
        guard stageEnd == nil else { return }
        stageEnd = now + tuning.drainTime.nanoseconds
        close(listener)
        (listener, acceptance) = (-1, .ended)
        for slot in connections.indices {
            guard let c = connections[slot], c.pointee.phase != .gone else { continue }
            c.pointee.drain()
            turns.add(slot, of: c.pointee.user)
        }
    }

    /// Ends a stage: removes the connections that the next stage does not wait for.
    private mutating func cut() {
        for slot in connections.indices {
            guard let c = connections[slot] else { continue }
            if hasCut || c.pointee.waiting?.resource != .network { remove(slot) }
        }
        stageEnd = hasCut ? .max : now + (tuning.networkDrainTime - tuning.drainTime).nanoseconds
        hasCut = true
    }
}

extension Duration {
    var nanoseconds: Int {
        // At most 30 years.
        let (seconds, attoseconds) = min(self, .seconds(1_000_000_000)).components
        return Int(clamping: seconds) * 1_000_000_000 + Int(attoseconds / 1_000_000_000)
    }
}
