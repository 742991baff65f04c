import NIOCore
import NorrisProtocol

/// Sends one error line to a connection that is not served, and closes it.
///
/// Closing with bytes unread would tell the peer of a reset after the line (unix(7)), so what has come is read first.
final class RefusalHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let error: ResponseError

    init(_ error: ResponseError) {
        self.error = error
    }

    func channelActive(context: ChannelHandlerContext) {
        var json = JSONWriter()
        Response.write(id: .null, error: error, to: &json)
        json.newline()
        let buffer = context.channel.allocator.buffer(bytes: json.bytes)
        context.writeAndFlush(wrapOutboundOut(buffer), promise: nil)
        if !hasInput(context) {
            context.close(promise: nil)
        }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        context.close(promise: nil)
    }

    private func hasInput(_ context: ChannelHandlerContext) -> Bool {
        let bytes = try? context.pipeline.syncOperations.withUnsafeTransportIfAvailable(
            of: NIOBSDSocket.Handle.self
        ) { SocketQueue(descriptor: $0).bytesToRead }
        return bytes.map { $0 > 0 } ?? false
    }
}
