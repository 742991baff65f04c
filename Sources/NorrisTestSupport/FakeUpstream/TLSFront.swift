import Foundation
import Synchronization

/// nginx(8) before a server on this machine that speaks no TLS.
///
/// It passes on bytes as they are, so that every fault behind it reaches the client. With HTTP/2 it passes on requests,
/// and answers 502 where the server does not speak HTTP.
package final class TLSFront: Sendable {
    /// With HTTP/2, nginx ends a request for this without an answer.
    package static let unansweredPath = "/unanswered"

    package struct NotStarted: Error, CustomStringConvertible {
        package let description: String
    }

    private let folder: TemporaryFolder
    private let reservation: PortReservation
    private let process: Mutex<ChildProcess?>

    package var port: Int { reservation.port }

    /// Starts nginx and waits until it listens.
    ///
    /// - Parameters:
    ///   - target: the port of the server.
    ///   - host: an IPv4 address of this machine, of both.
    ///   - old: one that was stopped, whose port this listens on.
    package static func start(
        _ certificate: FakeCertificate, to target: Int, host: String = "127.0.0.1", http2: Bool = false,
        replacing old: TLSFront? = nil
    ) async throws -> TLSFront {
        let front = try TLSFront(certificate, target, old?.reservation ?? PortReservation(host: host), http2)
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

    private init(
        _ certificate: FakeCertificate, _ target: Int, _ reservation: PortReservation, _ http2: Bool
    ) throws {
        folder = TemporaryFolder()
        self.reservation = reservation
        let host = reservation.host
        let tls = """
            ssl_certificate \(certificate.path);
            ssl_certificate_key \(certificate.keyPath);
            ssl_protocols TLSv1.2 TLSv1.3;
            """
        let listen = "listen \(host):\(reservation.port) ssl"
        let bytes = """
            load_module /usr/lib/nginx/modules/ngx_stream_module.so;
            stream {
                \(tls)
                proxy_timeout 1h;
                server { \(listen); proxy_pass \(host):\(target); }
            }
            """
        let requests = """
            http {
                \(tls)
                access_log off;
                client_body_temp_path body;
                fastcgi_temp_path fastcgi;
                proxy_temp_path proxy;
                scgi_temp_path scgi;
                uwsgi_temp_path uwsgi;
                proxy_http_version 1.1;
                proxy_buffering off;
                proxy_read_timeout 1h;
                server {
                    \(listen) http2;
                    proxy_set_header Host $http_host;
                    proxy_set_header X-Protocol $server_protocol;
                    location / { proxy_pass http://\(host):\(target); }
                    location \(Self.unansweredPath) { return 444; }
                }
            }
            """
        let configuration = try folder.write(
            """
            daemon off;
            master_process off;
            pid pid;
            \(http2 ? requests : bytes)
            events {}
            """,
            to: "nginx.conf"
        )
        let log = try folder.write("", to: "log")
        process = Mutex(
            try ChildProcess("nginx", ["-p", folder.path, "-c", configuration, "-e", "stderr"], errors: log)
        )
    }

    /// Ends nginx and its connections.
    package func stop() {
        process.withLock { $0 = nil }
    }
}
