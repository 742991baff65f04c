import Foundation
import Glibc
import Synchronization

/// nginx(8) in front of a server without TLS.
///
/// Copies bytes unchanged, so that every fault behind it reaches the client.
package final class TLSFront: Sendable {
    package struct NotStarted: Error, CustomStringConvertible { package let description: String }

    private let folder: TemporaryFolder
    private let reservation: PortReservation
    private let process: Mutex<ChildProcess?>

    package var port: Int { reservation.port }

    /// Starts nginx and waits until it listens.
    ///
    /// - Parameters:
    ///   - target: the port of the server.
    ///   - host: an IPv4 address of this machine for both.
    package static func start(
        _ certificate: FakeCertificate, to target: Int, host: String = "127.0.0.1"
    ) async throws -> TLSFront {
        let front = try TLSFront(certificate, target, PortReservation(host: host))
        while true {
            if let descriptor = PortReservation.connected(front.reservation.host, port: front.port) {
                close(descriptor)
                return front
            }
            guard front.process.withLock({ $0?.hasEnded }) == false else {
                let log = try String(contentsOfFile: front.folder("log"), encoding: .utf8)
                throw NotStarted(description: "nginx does not start:\n\(log)")
            }
            try await Task.sleep(for: .milliseconds(2))
        }
    }

    private init(_ certificate: FakeCertificate, _ target: Int, _ reservation: PortReservation) throws {
        folder = TemporaryFolder()
        self.reservation = reservation
        let host = reservation.host
        let configuration = try folder.write(
            """
            daemon off;
            master_process off;
            pid pid;
            load_module /usr/lib/nginx/modules/ngx_stream_module.so;
            stream {
                ssl_certificate \(certificate.path);
                ssl_certificate_key \(certificate.keyPath);
                ssl_protocols TLSv1.2 TLSv1.3;
                proxy_timeout 1h;
                server { listen \(host):\(reservation.port) ssl; proxy_pass \(host):\(target); }
            }
            events {}
            """, to: "nginx.conf")
        let log = try folder.write("", to: "log")
        process = Mutex(
            try ChildProcess("nginx", ["-p", folder.path, "-c", configuration, "-e", "stderr"], errors: log))
    }

    /// Ends nginx and its connections.
    package func stop() { process.withLock { $0 = nil } }
}

/// A self-signed certificate with its key, created by openssl(1) and deleted with the value.
package final class FakeCertificate: Sendable {
    private let folder = TemporaryFolder()

    /// The path of the certificate, as a file of trusted certificates.
    package var path: String { folder("certificate.pem") }
    package var keyPath: String { folder("key.pem") }

    /// - Parameters:
    ///   - names: the names in subjectAltName.
    ///   - isExpired: whether the certificate has expired.
    package init(
        names: [String] = ["IP:127.0.0.1", "DNS:localhost", "DNS:jokes.example"], isExpired: Bool = false
    ) throws {
        let request = folder("request.pem")
        try openssl([
            "req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
            "-subj", "/CN=norrisd test", "-addext", "subjectAltName=\(names.joined(separator: ","))",
            "-addext", "basicConstraints=critical,CA:TRUE", "-keyout", keyPath, "-out", request,
        ])
        // In all versions of openssl, only this command accepts an end in the past.
        let settings = try folder.write(
            """
            [ca]
            default_ca = tests
            [tests]
            database = \(try folder.write("", to: "database"))
            serial = \(try folder.write("01\n", to: "serial"))
            new_certs_dir = \(folder.path)
            default_md = sha256
            copy_extensions = copyall
            policy = names
            [names]
            commonName = supplied
            """, to: "settings")
        try openssl([
            "ca", "-batch", "-notext", "-selfsign", "-config", settings, "-in", request, "-keyfile", keyPath,
            "-startdate", "20200101000000Z", "-enddate", isExpired ? "20200102000000Z" : "20491231000000Z",
            "-out", path,
        ])
    }

    private func openssl(_ arguments: [String]) throws {
        let result = try run("openssl", arguments)
        precondition(result.status == 0, "openssl makes no certificate: \(result)")
    }
}

/// A TCP port of this machine that is reserved, with or without a listener.
///
/// A bound socket that does not listen refuses connections, and permits another socket with SO_REUSEADDR to listen on
/// the port (socket(7)): one from `socket()`, or from a child process such as nginx.
final class PortReservation: Sendable {
    let host: String
    let port: Int
    private let descriptor: CInt

    /// - Parameter host: an IPv4 address of this machine.
    init(host: String) {
        let (descriptor, port) = PortReservation.bound(host, port: 0)
        self.host = host
        self.descriptor = descriptor
        self.port = port
    }

    deinit { close(descriptor) }

    /// Another socket on the port, closed by the caller.
    func socket() -> CInt { PortReservation.bound(host, port: port).descriptor }

    /// A connection to a port, closed by the caller; nil if the port refuses.
    static func connected(_ host: String, port: Int) -> CInt? {
        let descriptor = newSocket()
        if withAddress(host, port, { connect(descriptor, $0, $1) }) == 0 { return descriptor }
        close(descriptor)
        return nil
    }

    private static func bound(_ host: String, port: Int) -> (descriptor: CInt, port: Int) {
        let descriptor = newSocket()
        var isReused: CInt = 1
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &isReused, socklen_t(MemoryLayout<CInt>.size))
        // A program that another test has just started may briefly hold the closed socket.
        var attempts = 3000
        while withAddress(host, port, { bind(descriptor, $0, $1) }) != 0 {
            precondition(errno == EADDRINUSE && attempts > 0, "No port \(port) on \(host)")
            attempts -= 1
            poll(nil, 0, 10)
        }
        var address = sockaddr_in()
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let status = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &length) }
        }
        precondition(status == 0, "A bound socket has no address")
        return (descriptor, Int(in_port_t(bigEndian: address.sin_port)))
    }

    private static func newSocket() -> CInt {
        let descriptor = Glibc.socket(AF_INET, CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0)
        precondition(descriptor >= 0, "No socket")
        return descriptor
    }

    private static func withAddress(
        _ host: String, _ port: Int, _ body: (UnsafePointer<sockaddr>, socklen_t) -> CInt
    ) -> CInt {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        inet_pton(AF_INET, host, &address.sin_addr)
        let length = socklen_t(MemoryLayout<sockaddr_in>.size)
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, length) }
        }
    }
}
