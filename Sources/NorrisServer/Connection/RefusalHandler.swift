import NIOCore
import NorrisProtocol

/// Sends one error line to a connection that is not served, and closes it.
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
        context.close(promise: nil)
    }
}
