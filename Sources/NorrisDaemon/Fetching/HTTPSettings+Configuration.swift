import NorrisUpstream

extension HTTPSettings {
    init(_ http: Configuration.HTTP, trustRoots: String?) {
        self.init(
            timeout: http.timeout,
            maximumBody: http.maxBody,
            userAgent: http.userAgent,
            proxy: http.proxy.map {
                HTTPProxySettings(host: $0.host, port: $0.port, user: $0.user, password: $0.password)
            },
            trustRoots: trustRoots
        )
    }
}
