import NIOCore
import NorrisProtocol

/// The shell around ``ConnectionStateMachine``: moves bytes between a channel and the machine, and does what it says.
///
/// What is in memory is answered right here on the event loop. Measured beside a task for each request, this gives
/// about twice the throughput.
final class ConnectionHandler: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let exchange: Exchange
    private let registry: ConnectionRegistry
    private let jobs: AsyncStream<Server.Job>.Continuation
    private var machine: ConnectionStateMachine
    private var context: ChannelHandlerContext?
    private var json = JSONWriter(capacity: initialCapacity)
    /// Whether ``run(_:)`` is under way: flushing can call back into this handler.
    private var isRunning = false
    private var isReadPending = false
    private var isClosing = false
    private var isAwaiting = false
    private var isGone = false
    /// Whether events wait in the exchange's subscription.
    private var hasEvents = false

    /// Past so many bytes the replies so far are sent before the next line is answered.
    private static let flushThreshold = 64 * 1024
    private static let initialCapacity = 1024

    init(
        exchange: Exchange,
        registry: ConnectionRegistry,
        jobs: AsyncStream<Server.Job>.Continuation,
        patience: ConnectionStateMachine.Patience
    ) {
        self.exchange = exchange
        self.registry = registry
        self.jobs = jobs
        machine = ConnectionStateMachine(now: .now, patience: patience)
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        registry.add(self, uid: exchange.peer.uid)
        let handler = NIOLoopBound(self, eventLoop: context.eventLoop)
        let eventLoop = context.eventLoop
        exchange.subscription.open { eventLoop.execute { handler.value.eventsCame() } }
    }

    /// Comes at the end of every channel, also of one that never became active.
    func handlerRemoved(context: ChannelHandlerContext) {
        self.context = nil
        leave()
    }

    func channelInactive(context: ChannelHandlerContext) {
        leave()
        context.fireChannelInactive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        unwrapInboundIn(data).withUnsafeReadableBytes { machine.received($0, now: .now) }
        run(context)
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        machine.writabilityChanged(context.channel.isWritable)
        run(context)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case .inputClosed? = event as? ChannelEvent {
            machine.inputEnded()
            run(context)
        } else {
            context.fireUserInboundEventTriggered(event)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // A peer that went away in the middle is its own business: nothing to report, nothing to save.
        context.close(promise: nil)
    }

    /// Holds back the channel's wish to read while a reply is awaited or not taken: that is the back-pressure.
    func read(context: ChannelHandlerContext) {
        if machine.wantsInput {
            context.read()
        } else {
            isReadPending = true
        }
    }

    /// The daemon stops: answers what has been received, then closes.
    func drain() {
        guard let context else { return }
        let queue = SocketQueue(of: context)
        // A peer that has ended its side is answered to that end anyhow.
        if !queue.hasEnded {
            machine.drain(unread: queue.bytesToRead)
        }
        run(context)
    }

    /// Once a second: closes the connection if it has rested too long.
    func tick(now: ContinuousClock.Instant) {
        guard let context else { return }
        let unsent = unsentBytes
        let queued = unsent > 0 ? SocketQueue(of: context).bytesQueued : 0
        let isSubscriber = exchange.subscription.isActive
        if machine.hasExpired(now: now, isSubscriber: isSubscriber, unsentBytes: unsent, queuedBytes: queued) {
            context.close(promise: nil)
        }
    }

    /// Closes at once, whatever is unsent.
    func abort() {
        context?.close(promise: nil)
    }

    /// The bytes the kernel has not taken for this peer.
    var unsentBytes: Int {
        // The option exists on every socket channel; a failure only means that the channel is closed.
        (try? context?.channel.syncOptions?.getOption(.bufferedWritableBytes)) ?? 0
    }

    var stalledSince: ContinuousClock.Instant? {
        machine.stalledSince
    }

    private func run(_ context: ChannelHandlerContext) {
        guard !isRunning else { return }
        isRunning = true
        defer { isRunning = false }
        while true {
            if hasEvents { writeEvents() }
            switch machine.next() {
            case .answer(let line):
                let rest = exchange.answer(line, into: &json)
                machine.answered(waiting: rest != nil)
                if let rest { wait(for: rest, context) }
            case .refuseLongLine:
                exchange.refuseLongLine(into: &json)
                machine.answered(waiting: false)
            case .read:
                flush(context)
                return resumeReading(context)
            case .wait:
                return flush(context)
            case .close:
                flush(context)
                return closeWhenSent(context)
            }
            if json.count >= ConnectionHandler.flushThreshold { flush(context) }
        }
    }

    private func eventsCame() {
        hasEvents = true
        if let context { run(context) }
    }

    /// Writes the events that wait, unless the machine has them wait on; asked again before each line and each reply.
    private func writeEvents() {
        guard machine.takesEvents else { return exchange.subscription.holdBack() }
        hasEvents = false
        for line in exchange.subscription.take() {
            json.raw(lines: line)
        }
    }

    private func flush(_ context: ChannelHandlerContext) {
        guard json.count > 0 else { return }
        var buffer = context.channel.allocator.buffer(capacity: json.count)
        buffer.writeBytes(json.bytes)
        machine.wrote(json.count)
        if json.count > ConnectionHandler.flushThreshold {
            // The memory of a long reply is given back, or each connection would keep that of its longest.
            json = JSONWriter(capacity: ConnectionHandler.initialCapacity)
        } else {
            json.removeAll()
        }
        context.writeAndFlush(wrapOutboundOut(buffer), promise: nil)
        let unsent = unsentBytes
        if unsent > 0 { registry.noteUnsent(of: self, unsent, now: .now) }
    }

    /// Closes behind what is still to be sent: an empty write is done only after all before it.
    private func closeWhenSent(_ context: ChannelHandlerContext) {
        guard !isClosing else { return }
        isClosing = true
        let empty = context.channel.allocator.buffer(capacity: 0)
        context.writeAndFlush(wrapOutboundOut(empty)).assumeIsolated().whenComplete { _ in
            context.close(promise: nil)
        }
    }

    private func resumeReading(_ context: ChannelHandlerContext) {
        guard isReadPending else { return }
        isReadPending = false
        context.read()
    }

    private func wait(for rest: @escaping Continuation, _ context: ChannelHandlerContext) {
        let handler = NIOLoopBound(self, eventLoop: context.eventLoop)
        let eventLoop = context.eventLoop
        isAwaiting = true
        jobs.yield {
            let reply = await rest()
            eventLoop.execute { handler.value.arrived(reply) }
        }
    }

    private func arrived(_ reply: [UInt8]) {
        isAwaiting = false
        guard !isGone, let context else { return leave() }
        json.raw(lines: reply)
        machine.answerArrived(now: .now)
        run(context)
    }

    /// The channel is closed. While an answer is still being made the connection counts nevertheless, or a peer that
    /// asks and goes, again and again, could have any number of them made at once.
    private func leave() {
        isGone = true
        machine.closed()
        exchange.subscription.close()
        if !isAwaiting { registry.remove(self, uid: exchange.peer.uid) }
    }
}
