import CEpoll
import Glibc
import Logging
import NorrisProtocol

/// The one thread that owns the listening socket and all connections (epoll(7)).
///
/// Connections that have something to do take turns (``FairQueue``); in its turn a connection reads once, answers lines
/// as long as its ``Turn`` goes, and sends the replies. What a connection does is decided by its
/// ``ConnectionStateMachine``, what a line means by ``Exchange``. Everything here runs on that thread, so nothing is
/// locked; other threads send messages to ``Inbox``.
struct EventLoop: ~Copyable {
    /// What the loop needs of its server.
    struct Settings {
        let pace: Server.Pace
        let limits: @Sendable () -> Server.Limits
        let heartbeat: Server.Heartbeat?
        let events: EventHub
        let count: ConnectionCount
        let logger: Logger
        /// Runs deferred work.
        let run: @Sendable (@escaping Server.Job) -> Void
    }

    private typealias Instant = ConnectionStateMachine.Instant

    private let settings: Settings
    private let exchange: Exchange
    private let inbox: Inbox
    private let epoll: CInt
    private var listener: CInt
    /// Given up to refuse a connection when there are no more descriptors.
    private var reserve: CInt
    /// Whether nobody is accepted for a second, for lack of descriptors or memory.
    private var isPaused = false

    /// By descriptor. Each is allocated when it is accepted and freed in ``remove(_:)``, and only this thread uses it.
    private var connections: [UnsafeMutablePointer<Connection>?] = []
    private var connectionCount = 0
    private var nextGeneration: UInt64 = 0
    private var users = UserTable()
    private var turns = FairQueue()
    private var disk = WorkQueue()
    private var network = WorkQueue()
    /// What is held for peers: replies that they do not take, and batches that are being answered.
    private var heldBytes = 0

    /// Replies that were made since the last ``flush()``, and up to where each belongs to which connection. They are sent
    /// together: a peer that waits wakes up once and finds the others' replies on their way.
    private var json = JSONWriter(capacity: EventLoop.keptCapacity)
    private var replies: [(slot: Int, end: Int, isLast: Bool)] = []
    private let input = UnsafeMutableRawBufferPointer.allocate(byteCount: 65_536, alignment: 16)
    /// Memory for input that no connection needs now.
    private var spareInputs: [[UInt8]] = []

    private var now = monotonicNanoseconds()
    private var instant = Instant.now
    /// When ``instant`` was read.
    private var instantRead = 0
    private var nextTick = Int.max
    private var nextBeat = Int.max
    private var drainEnd: Int?

    /// With so many bytes of replies a turn is over.
    private static let longTurn = 64 * 1024
    /// With so many bytes of replies they are sent.
    private static let flushThreshold = 256 * 1024
    private static let keptCapacity = 512 * 1024
    private static let maximumSpareInputs = 64
    /// A deferred request counts with so many bytes among those that are held for slow readers: half of the longest
    /// reply, so that those of a full house fit.
    private static let reserveForReply = 2 * 1024 * 1024
    /// So many connections are accepted before others have their turns.
    private static let maximumAccepts = 64

    /// - Parameter listener: closed by the loop.
    init(listener: CInt, registry: MethodRegistry, inbox: Inbox, settings: Settings) throws(SystemError) {
        self.settings = settings
        self.inbox = inbox
        self.listener = listener
        exchange = Exchange(registry: registry)
        reserve = open("/dev/null", O_RDONLY | O_CLOEXEC)
        epoll = epoll_create1(CInt(EPOLL_CLOEXEC))
        guard epoll >= 0 else { throw SystemError(call: "epoll_create1", code: errno) }
        for descriptor in [listener, inbox.descriptor] {
            guard control(EPOLL_CTL_ADD, descriptor, EPOLLIN.rawValue) else {
                throw SystemError(call: "epoll_ctl", code: errno)
            }
        }
        if settings.heartbeat != nil { nextBeat = now }
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

    /// Serves until it is told to stop.
    mutating func run() {
        withUnsafeTemporaryAllocation(of: epoll_event.self, capacity: 256) { events in
            // Always 256 of them.
            let base = events.baseAddress!
            var isRunning = true
            while isRunning {
                let count = epoll_wait(epoll, base, 256, timeout())
                setNow(monotonicNanoseconds())
                var hasMessages = false
                for index in 0..<max(0, Int(count)) {
                    let event = base[index]
                    if event.data.fd == listener {
                        accept()
                    } else if event.data.fd == inbox.descriptor {
                        hasMessages = true
                    } else {
                        noteEvent(Int(event.data.fd), event.events)
                    }
                }
                if hasMessages { isRunning = handleMessages() }
                takeTurns()
                startWork()
                if now >= nextBeat { beat() }
                if now >= nextTick { tick() }
                if let drainEnd {
                    if now >= drainEnd { abortAll() }
                    if connectionCount == 0 { isRunning = false }
                }
            }
        }
        inbox.close()
    }

    // MARK: Time

    private mutating func setNow(_ now: Int) {
        self.now = now
        // Connections rest for seconds; a hundredth of one is exact enough for them.
        if now - instantRead > 10_000_000 || settings.pace.tick < .milliseconds(10) {
            instant = .now
            instantRead = now
        }
    }

    /// How long to wait, in the milliseconds of epoll_wait(2).
    private func timeout() -> CInt {
        if !turns.isEmpty { return 0 }
        let next = min(nextTick, nextBeat, drainEnd ?? .max)
        if next == .max { return -1 }
        return CInt(clamping: max(0, (next - monotonicNanoseconds() + 999_999) / 1_000_000))
    }

    private mutating func beat() {
        guard let heartbeat = settings.heartbeat else { return }
        heartbeat.beat()
        nextBeat = now + heartbeat.interval.nanoseconds
    }

    /// Closes the connections that have rested too long, and finds out when to look again.
    private mutating func tick() {
        instant = .now
        if isPaused, listener >= 0 { resumeAccepting() }
        var earliest: Instant?
        for slot in connections.indices {
            guard let c = connections[slot], !c.pointee.isGone else { continue }
            let isSubscriber = c.pointee.caller.subscription.isActive
            let unsent = c.pointee.unsentBytes
            let queued = unsent > 0 ? c.pointee.bytesQueued : 0
            if c.pointee.machine.hasExpired(
                now: instant, isSubscriber: isSubscriber, unsentBytes: unsent, queuedBytes: queued
            ) {
                remove(slot)
            } else {
                // A slow reader is looked at as often as can be: it may have taken something and stand still again.
                let next = unsent > 0 ? instant : c.pointee.machine.nextLook(now: instant, isSubscriber: isSubscriber)
                earliest = min(earliest ?? next, next)
            }
        }
        nextTick = .max
        if let earliest { scheduleTick(in: instant.duration(to: earliest)) }
    }

    private mutating func scheduleTick(in time: Duration) {
        nextTick = min(nextTick, now + max(time, settings.pace.tick).nanoseconds)
    }

    // MARK: Connections

    private func control(_ operation: CInt, _ descriptor: CInt, _ events: UInt32) -> Bool {
        var event = epoll_event()
        event.events = events
        event.data.fd = descriptor
        return epoll_ctl(epoll, operation, descriptor, &event) == 0
    }

    private mutating func accept() {
        let flags = CInt(SOCK_NONBLOCK.rawValue) | CInt(SOCK_CLOEXEC.rawValue)
        for _ in 0..<EventLoop.maximumAccepts {
            var descriptor = accept4(listener, nil, nil, flags)
            if descriptor >= 0 {
                welcome(descriptor)
                continue
            }
            if errno == EINTR || errno == ECONNABORTED { continue }
            guard errno != EAGAIN else { return }
            // No more descriptors: whoever waits is told so, with the last one.
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
                return scheduleTick(in: .seconds(1))
            }
        }
    }

    /// Accepts again after a pause.
    private mutating func resumeAccepting() {
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
        let subscription = Subscription(hub: settings.events)
        let inbox = inbox
        subscription.open { inbox.send(.events(id)) }
        let slot = Int(descriptor)
        while connections.count <= slot { connections.append(nil) }
        let connection = UnsafeMutablePointer<Connection>.allocate(capacity: 1)
        connection.initialize(
            to: Connection(
                id: id,
                caller: Caller(
                    peer: peer, subscription: subscription, isAdministrator: exchange.registry.isAdministrator
                ),
                user: users.enter(peer.uid),
                machine: ConnectionStateMachine(now: instant, patience: settings.pace.patience)
            )
        )
        connections[slot] = connection
        connectionCount += 1
        settings.count.opened(connectionCount)
        scheduleTick(in: settings.pace.patience.idle)
    }

    private func refusal(of peer: Peer) -> ResponseError? {
        let limits = settings.limits()
        let isAdministrator = exchange.registry.isAdministrator(peer)
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
        settings.count.refuse()
        settings.logger.notice(
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

    private mutating func noteEvent(_ slot: Int, _ events: UInt32) {
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

    /// - Parameter interest: nil for a socket that is not looked at for now.
    private func setInterest(_ c: UnsafeMutablePointer<Connection>, _ interest: UInt32?) {
        guard c.pointee.interest != interest else { return }
        let operation = interest == nil ? EPOLL_CTL_DEL : c.pointee.interest == nil ? EPOLL_CTL_ADD : EPOLL_CTL_MOD
        c.pointee.interest = interest
        // Adding fails only where memory does; then the connection rests until its time-out.
        _ = control(operation, c.pointee.id.descriptor, interest ?? 0)
    }

    /// Closes a connection; one whose answer is being made goes when that has come.
    private mutating func remove(_ slot: Int) {
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
        settings.count.set(connectionCount)
        c.deinitialize(count: 1)
        c.deallocate()
    }

    private mutating func abortAll() {
        for slot in connections.indices { remove(slot) }
    }

    // MARK: Turns

    private mutating func takeTurns() {
        // New requests are looked for about every millisecond.
        let end = now + Turn.maximumTime
        while now < end, let slot = turns.next() {
            takeTurn(slot)
            if json.count >= EventLoop.flushThreshold { flush() }
        }
        flush()
    }

    private mutating func takeTurn(_ slot: Int) {
        guard let c = connections[slot], !c.pointee.isGone else { return }
        let start = json.count
        let caller = c.pointee.caller
        var turn = Turn(start: now, written: start)
        var isAlive = true
        var isDone = false
        var isClosing = false
        var hasRead = false
        while isAlive, !isDone {
            if c.pointee.hasEvents { writeEvents(c) }
            if turn.isOver || json.count - start >= EventLoop.longTurn { break }
            if let line = c.pointee.unfinished {
                guard line.waiting == nil, c.pointee.machine.isWritable else { break }
                c.pointee.unfinished = exchange.resume(line, of: caller, &turn, into: &json)
                noteAnswer(slot)
                continue
            }
            switch c.pointee.machine.next() {
            case .answer(let line):
                c.pointee.unfinished = exchange.answer(line, of: caller, &turn, into: &json)
                if c.pointee.unfinished == nil { c.pointee.machine.answered(waiting: false) } else { noteAnswer(slot) }
            case .refuseLongLine:
                exchange.refuseLongLine(into: &json)
                c.pointee.machine.answered(waiting: false)
                turn.spend(written: json.count)
            case .read where c.pointee.isReadable && !hasRead:
                hasRead = true
                isAlive = read(slot)
            case .read, .wait:
                // What else there is to read, epoll(7) reports again.
                isDone = true
            case .close:
                isClosing = true
                isDone = true
            }
        }
        setNow(monotonicNanoseconds())
        turn.finish(now)
        guard isAlive else {
            json.truncate(to: start)
            return remove(slot)
        }
        if json.count > start || isClosing { replies.append((slot, json.count, isClosing)) }
        if !isDone, c.pointee.machine.isWritable, c.pointee.unfinished?.waiting == nil { turns.add(slot, of: c.pointee.user) }
        count(c)
        if heldBytes > settings.pace.maximumUnsent { makeRoom(for: 0) }
        guard connections[slot] == c, !c.pointee.isGone else { return }
        if let storage = c.pointee.machine.takeInputStorage(), spareInputs.count < EventLoop.maximumSpareInputs {
            spareInputs.append(storage)
        }
        updateInterest(c)
    }

    private func updateInterest(_ c: UnsafeMutablePointer<Connection>) {
        var interest = c.pointee.interest ?? 0
        // What is not wanted is only taken back when it is reported, which spares most of these calls.
        if c.pointee.machine.wantsInput { interest |= EPOLLIN.rawValue }
        if c.pointee.unsentBytes > 0 {
            interest |= EPOLLOUT.rawValue
        } else {
            interest &= ~EPOLLOUT.rawValue
        }
        // A peer that has gone is reported whatever is asked for.
        if interest != 0 || c.pointee.interest != nil { setInterest(c, interest) }
    }

    /// After a line that is not done in one go: tells the state machine how it stands.
    private mutating func noteAnswer(_ slot: Int) {
        guard let c = connections[slot] else { return }
        guard let line = c.pointee.unfinished else { return c.pointee.machine.answerArrived(now: instant) }
        c.pointee.machine.answered(waiting: true)
        guard let waiting = line.waiting else { return }
        switch waiting.deferred.resource {
        case .disk: disk.add(slot, of: c.pointee.user, first: line.heldBytes > 1024)
        case .network: network.add(slot, of: c.pointee.user, first: line.heldBytes > 1024)
        }
    }

    /// - Returns: false where the socket has failed.
    private mutating func read(_ slot: Int) -> Bool {
        guard let c = connections[slot] else { return false }
        c.pointee.isReadable = false
        let count = recv(c.pointee.id.descriptor, input.baseAddress, input.count, CInt(MSG_DONTWAIT))
        if count > 0 {
            if var storage = spareInputs.popLast() { c.pointee.machine.lendInputStorage(&storage) }
            c.pointee.machine.received(UnsafeRawBufferPointer(rebasing: input[..<count]), now: instant)
        } else if count == 0 {
            c.pointee.machine.inputEnded()
        } else if errno != EAGAIN, errno != EINTR {
            // A peer that went away in the middle: nothing to report, nothing to save.
            return false
        }
        return true
    }

    /// Writes the events that wait, unless the machine has them wait on; asked again before each line and each reply.
    private mutating func writeEvents(_ c: UnsafeMutablePointer<Connection>) {
        guard c.pointee.machine.takesEvents else { return c.pointee.caller.subscription.holdBack() }
        c.pointee.hasEvents = false
        for line in c.pointee.caller.subscription.take() { line.withUnsafeBytes { json.raw(lines: $0) } }
    }

    // MARK: Replies

    /// Sends the replies that were made.
    private mutating func flush() {
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
        scheduleTick(in: .zero)
        makeRoom(for: 0)
    }

    /// The kernel takes more of what is unsent.
    private mutating func sendRest(_ slot: Int) {
        guard let c = connections[slot], c.pointee.unsentBytes > 0 else { return }
        guard c.pointee.sendRest() else { return remove(slot) }
        count(c)
        guard c.pointee.unsentBytes == 0 else { return }
        if c.pointee.isClosing { return remove(slot) }
        c.pointee.machine.writabilityChanged(true)
        turns.add(slot, of: c.pointee.user)
    }

    /// Notes how much is held for a connection now.
    private mutating func count(_ c: UnsafeMutablePointer<Connection>) {
        let held = c.pointee.heldBytes
        heldBytes += held - c.pointee.counted
        c.pointee.counted = held
    }

    /// Closes the slowest readers until so many bytes more may be held: those who stand still longest first, and among
    /// equals those for whom most is held. Replies that are being made count too.
    private mutating func makeRoom(for bytes: Int) {
        let reserved = (disk.running + network.running) * EventLoop.reserveForReply
        while heldBytes + reserved + bytes > settings.pace.maximumUnsent {
            var slowest: (slot: Int, since: Instant, bytes: Int)?
            for slot in connections.indices {
                guard let c = connections[slot], c.pointee.counted > 0 else { continue }
                let candidate = (slot, c.pointee.machine.stalledSince ?? instant, c.pointee.counted)
                if slowest.map({ (candidate.1, $0.bytes) < ($0.since, candidate.2) }) ?? true { slowest = candidate }
            }
            // What is running alone fits.
            guard let slowest else { return }
            remove(slowest.slot)
        }
    }

    // MARK: Deferred work

    private mutating func startWork() {
        while let slot = disk.next(), let user = start(slot) { disk.began(of: user) }
        while let slot = network.next(), let user = start(slot) { network.began(of: user) }
    }

    /// - Returns: whose request began.
    private mutating func start(_ slot: Int) -> Int? {
        // A connection with a request that waits stays until it is answered, also where the peer has gone.
        guard let c = connections[slot], let waiting = c.pointee.unfinished?.waiting else { return nil }
        makeRoom(for: EventLoop.reserveForReply)
        let (id, inbox, work) = (c.pointee.id, inbox, waiting.deferred.work)
        settings.run {
            do throws(ResponseError) {
                inbox.send(.result(id, .success(try await work())))
            } catch {
                inbox.send(.result(id, .failure(error)))
            }
        }
        return c.pointee.user
    }

    /// - Returns: false where the loop is to end at once.
    private mutating func handleMessages() -> Bool {
        for message in inbox.take() {
            switch message {
            case .result(let id, let result): take(result, id)
            case .events(let id):
                guard let slot = slot(of: id), let c = connections[slot] else { continue }
                c.pointee.hasEvents = true
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

    private mutating func take(_ result: Result<[UInt8], ResponseError>, _ id: ConnectionID) {
        guard let slot = slot(of: id), let c = connections[slot], let line = c.pointee.unfinished,
            let waiting = line.waiting
        else { return }
        switch waiting.deferred.resource {
        case .disk: disk.ended(of: c.pointee.user)
        case .network: network.ended(of: c.pointee.user)
        }
        c.pointee.unfinished = exchange.finish(line, result, into: &json)
        replies.append((slot, json.count, false))
        if c.pointee.isGone {
            c.pointee.unfinished = nil
            return remove(slot)
        }
        if c.pointee.unfinished == nil { c.pointee.machine.answerArrived(now: instant) }
        count(c)
        if c.pointee.counted > EventLoop.longTurn { makeRoom(for: 0) }
        guard connections[slot] == c else { return }
        updateInterest(c)
        turns.add(slot, of: c.pointee.user)
        // Nothing is answered beside a long reply before it is known whether the peer takes it.
        if json.count >= EventLoop.longTurn { flush() }
    }

    // MARK: The end

    /// Accepts no more, lets every connection answer what it has received, and closes it.
    private mutating func drain() {
        guard drainEnd == nil else { return }
        drainEnd = now + settings.pace.drainTime.nanoseconds
        close(listener)
        listener = -1
        for slot in connections.indices {
            guard let c = connections[slot], !c.pointee.isGone else { continue }
            // A peer that has ended its side is answered to that end anyhow.
            if !c.pointee.hasPeerEnded { c.pointee.machine.drain(unread: c.pointee.bytesToRead) }
            c.pointee.isReadable = true
            turns.add(slot, of: c.pointee.user)
        }
    }
}

extension Duration {
    fileprivate var nanoseconds: Int {
        let (seconds, attoseconds) = components
        return Int(clamping: seconds) * 1_000_000_000 + Int(attoseconds / 1_000_000_000)
    }
}

/// The users that have connections, by a small number each, and how many they have.
struct UserTable {
    private var numbers: [uid_t: Int] = [:]
    private var users: [(uid: uid_t, connections: Int)] = []
    private var free: [Int] = []

    /// A connection more.
    ///
    /// - Returns: the user's number, which stays as long as the user has a connection.
    mutating func enter(_ uid: uid_t) -> Int {
        if let number = numbers[uid] {
            users[number].connections += 1
            return number
        }
        let number = free.popLast() ?? users.count
        if number == users.count { users.append((uid, 1)) } else { users[number] = (uid, 1) }
        numbers[uid] = number
        return number
    }

    mutating func leave(_ number: Int) {
        users[number].connections -= 1
        if users[number].connections == 0 {
            numbers[users[number].uid] = nil
            free.append(number)
        }
    }

    func connections(of uid: uid_t) -> Int {
        numbers[uid].map { users[$0].connections } ?? 0
    }
}
