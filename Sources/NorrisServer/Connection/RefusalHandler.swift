import NIOCore
import NorrisProtocol

/// Sends one error line to a connection that is not served, and closes it.
///
/// Closing with bytes unread would tell the peer of a reset after the line (unix(7)), so what has come is read first.
final class RefusalHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let error: ResponseError
    private var unread = 0

    init(_ error: ResponseError) {
        self.error = error
    }

    func channelActive(context: ChannelHandlerContext) {
        var json = JSONWriter()
        Response.write(id: .null, error: error, to: &json)
        json.newline()
        let buffer = context.channel.allocator.buffer(bytes: json.bytes)
        context.writeAndFlush(wrapOutboundOut(buffer), promise: nil)
        unread = SocketQueue(of: context).bytesToRead
        closeWhenRead(context)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        unread -= unwrapInboundIn(data).readableBytes
        closeWhenRead(context)
    }

    private func closeWhenRead(_ context: ChannelHandlerContext) {
        if unread <= 0 { context.close(promise: nil) }
    }
}
