import AsyncHTTPClient
import NIOCore
import NIOHTTPCompression

extension HTTPClient.Configuration {
    /// How long an unused connection stays open: a search may follow another, a daily fetch does not.
    private static let idleTimeout = TimeAmount.seconds(5)

    /// - Parameters:
    ///   - tunnels: whether a proxy, if there is one, is asked to CONNECT.
    ///   - prepare: runs on the event loop once a connection stands, before it carries a request.
    static func upstream(
        _ settings: HTTPSettings,
        tunnels: Bool,
        _ prepare: @escaping @Sendable (any Channel) throws -> EventLoopFuture<Void>
    ) -> HTTPClient.Configuration {
        var configuration = HTTPClient.Configuration(
            redirectConfiguration: .disallow,
            timeout: .init(connect: TimeAmount(settings.connectTimeout), read: TimeAmount(settings.timeout)),
            connectionPool: .init(idleTimeout: idleTimeout),
            decompression: .enabled(limit: .size(settings.maximumBody))
        )
        configuration.httpVersion = .http1Only
        // Whoever asks decides about another try, and wants to know the cause at once.
        configuration.connectionPool.retryConnectionEstablishment = false
        configuration.tlsConfiguration = .upstream(settings)
        if tunnels, let proxy = settings.proxy {
            configuration.proxy = .server(host: proxy.host, port: proxy.port, authorization: proxy.authorization)
        }
        configuration.http1_1ConnectionDebugInitializer = { channel in
            do {
                return try prepare(channel)
            } catch {
                return channel.eventLoop.makeFailedFuture(error)
            }
        }
        return configuration
    }
}

extension HTTPProxySettings {
    /// What the proxy is told of the user, if there is one.
    var authorization: HTTPClient.Authorization? {
        user.map { .basic(username: $0, password: password ?? "") }
    }
}
