import Glibc
import NIOCore
import NIOSSL
import Synchronization

/// One connection to a fake upstream: raw bytes in and out, so that every fault is possible.
final class FakeUpstreamHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let upstream: FakeUpstream
    private let tls: NIOSSLContext?
    private var received: [UInt8] = []

    /// - Parameter tls: what a tunnel to this upstream goes on with; nil where CONNECT is no method.
    init(_ upstream: FakeUpstream, tunnelling tls: NIOSSLContext?) {
        self.upstream = upstream
        self.tls = tls
    }

    func channelActive(context: ChannelHandlerContext) {
        let channel = context.channel
        let fault = upstream.state.withLock { state in
            state.connections[ObjectIdentifier(channel)] = channel
            return state.fault
        }
        if case .greeting(let bytes)? = fault { send(Array(bytes.utf8), context) }
    }

    func channelInactive(context: ChannelHandlerContext) {
        let channel = context.channel
        _ = upstream.state.withLock { $0.connections.removeValue(forKey: ObjectIdentifier(channel)) }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        received += unwrapInboundIn(data).readableBytesView
        while let end = received.indices.first(where: { received[$0...].starts(with: "\r\n\r\n".utf8) }) {
            let request = FakeUpstream.Request(head: String(decoding: received[..<end], as: UTF8.self))
            received.removeSubrange(..<(end + 4))
            take(request, context)
        }
    }

    private func take(_ request: FakeUpstream.Request, _ context: ChannelHandlerContext) {
        let loop = context.eventLoop
        let held = NIOLoopBound((self, request, context), eventLoop: loop)
        let number: Int? = upstream.state.withLock { state in
            state.requests.append(request)
            let count = state.requests.count
            for watcher in state.watchers where watcher.count <= count { watcher.continuation.resume() }
            state.watchers.removeAll { $0.count <= count }
            guard state.held != nil else { return count }
            state.held?.append {
                loop.execute {
                    let (handler, request, context) = held.value
                    handler.answer(request, count, context)
                }
            }
            return nil
        }
        if let number { answer(request, number, context) }
    }

    private func answer(_ request: FakeUpstream.Request, _ number: Int, _ context: ChannelHandlerContext) {
        let (fault, content, authorization) = upstream.state.withLock { state in
            (state.faults[request.path] ?? state.fault, state.content, state.authorization)
        }
        if let authorization, request.isForProxy, request.header("Proxy-Authorization") != authorization {
            return send(Array("HTTP/1.1 407 Whatever\r\nContent-Length: 0\r\n\r\n".utf8), context)
        }
        if request.method == "CONNECT" { return tunnel(context) }
        let isChanging = if case .changing? = fault { true } else { false }
        let answer = content.answer(to: request, changing: isChanging ? number : nil)
        answerWith(fault, answer, context)
    }

    private func tunnel(_ context: ChannelHandlerContext) {
        guard let tls else { return send(Array("HTTP/1.1 405 Whatever\r\nContent-Length: 0\r\n\r\n".utf8), context) }
        send(Array("HTTP/1.1 200 Connection established\r\n\r\n".utf8), context)
        do {
            let handler = NIOSSLServerHandler(context: tls)
            try context.pipeline.syncOperations.addHandler(handler, position: .first)
        } catch {
            context.close(promise: nil)
        }
    }

    private func answerWith(
        _ fault: FakeUpstream.Fault?, _ answer: FakeUpstream.Answer, _ context: ChannelHandlerContext
    ) {
        let length = ("Content-Length", "\(answer.body.count)")
        switch fault {
        case nil, .changing:
            send(answer.bytes, context)
        case .reset:
            reset(context)
        case .hang, .greeting:
            break
        case .drip(let interval):
            send(answer.head(with: [length]), context)
            drip(answer.body[...], .nanoseconds(Int64(interval / .nanoseconds(1))), context)
        case .truncated(let isChunked):
            let half = answer.body.prefix(answer.body.count / 2)
            if isChunked {
                let size = Array("\(String(answer.body.count, radix: 16))\r\n".utf8)
                send(answer.head(with: [("Transfer-Encoding", "chunked")]) + size + half, context)
            } else {
                send(answer.head(with: [length]) + half, context)
            }
            context.close(promise: nil)
        case .endless:
            send(answer.head(with: [("Transfer-Encoding", "chunked")]), context)
            chunks(context)
        case .raw(let bytes):
            send(Array(bytes.utf8), context)
            context.close(promise: nil)
        case .hangingAfter(let bytes):
            send(Array(bytes.utf8), context)
        case .answer(let status, let headers, let body):
            send(FakeUpstream.Answer(status: status, headers: headers, body: body).bytes, context)
        }
    }

    private func send(_ bytes: [UInt8], _ context: ChannelHandlerContext) {
        context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: bytes)), promise: nil)
    }

    private func reset(_ context: ChannelHandlerContext) {
        // Without lingering, a close is a reset (socket(7)).
        let channel = context.channel
        // Channels of sockets, and this is one, have their options.
        let options = channel as! any SocketOptionProvider
        options.setSoLinger(linger(l_onoff: 1, l_linger: 0)).whenComplete { _ in
            channel.close(promise: nil)
        }
    }

    private func drip(_ bytes: ArraySlice<UInt8>, _ interval: TimeAmount, _ context: ChannelHandlerContext) {
        guard let first = bytes.first, context.channel.isActive else { return }
        send([first], context)
        context.eventLoop.assumeIsolated().scheduleTask(in: interval) {
            self.drip(bytes.dropFirst(), interval, context)
        }
    }

    /// Chunk after chunk, as long as the client takes them.
    private func chunks(_ context: ChannelHandlerContext) {
        let chunk = Array("4000\r\n".utf8) + [UInt8](repeating: UInt8(ascii: " "), count: 0x4000) + Array("\r\n".utf8)
        let promise = context.eventLoop.makePromise(of: Void.self)
        context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: chunk)), promise: promise)
        promise.futureResult.assumeIsolated().whenSuccess {
            // In a turn of its own, so that a fast client does not make this a recursion.
            context.eventLoop.assumeIsolated().execute { self.chunks(context) }
        }
    }
}

extension FakeUpstream.Request {
    fileprivate var isForProxy: Bool {
        method == "CONNECT" || target.hasPrefix("http://")
    }
}
