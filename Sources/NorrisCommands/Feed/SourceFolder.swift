import NorrisClient
import NorrisProtocol
import NorrisSystem
import NorrisTerminal
import NorrisText

/// A source of posts that the user adds, and the content of its file.
struct NewSource: Equatable {
    var name: String
    /// An `http` or `https` URL of printable ASCII characters, as ``isAddress(_:)`` checks.
    var url: String
    var kind = "feed"
    /// A refresh interval such as `30m`; nil for the default.
    var refresh: String?

    /// The file as YAML. A URL in single quotes needs no escape sequence.
    var file: [UInt8] {
        let refresh = refresh.map { "refresh: \($0)\n" } ?? ""
        return Array("kind: \(kind)\nurl: '\(url.replacing("'", with: "''"))'\n\(refresh)".utf8)
    }

    /// The URL in a file with the form of ``file``; nil for a file of another form.
    static func url(in file: [UInt8]) -> String? {
        for line in String(decoding: file, as: UTF8.self).split(separator: "\n") where line.hasPrefix("url: '") {
            guard line.hasSuffix("'") else { return nil }
            return String(line.dropFirst(6).dropLast()).replacing("''", with: "'")
        }
        return nil
    }

    /// Whether a text is an `http` or `https` URL that a file can contain. The daemon checks the details.
    static func isAddress(_ text: String) -> Bool {
        let scheme = ["http://", "https://"].first { text.lowercased().hasPrefix($0) }
        guard let scheme, text.utf8.count > scheme.utf8.count, text.utf8.count <= 2048 else { return false }
        return text.utf8.allSatisfy { 0x21...0x7E ~= $0 }
    }

    /// Whether a text is a valid name of a source.
    static func isName(_ text: String) -> Bool {
        (1...40).contains(text.utf8.count)
            && text.utf8.allSatisfy { 0x61...0x7A ~= $0 || 0x30...0x39 ~= $0 || "-_".utf8.contains($0) }
    }

    /// Returns an unused valid name: the title, the host, the host with the path, or one of them with a number.
    static func name(title: String? = nil, url: String, taken: Set<String>) -> String {
        let rest = url.drop { $0 != "/" }.drop { $0 == "/" }
        let address = rest.prefix { !"?#".contains($0) }
        var host = address.prefix { $0 != "/" }
        if let end = host.lastIndex(of: "@") { host = host[host.index(after: end)...] }
        if host.hasPrefix("www.") { host = host.dropFirst(4) }
        let path = address.drop { $0 != "/" }
        var words = [title.map(plain) ?? "", plain(host), plain("\(host)\(path)")].filter { !$0.isEmpty }
        if words.isEmpty { words = ["feed"] }
        let taken = taken.union([SourceStatus.facts, SourceStatus.gifs])
        if let free = words.first(where: { !taken.contains($0) }) { return free }
        // At most as many names are taken as there are sources, so a free number exists.
        var number = 2
        while taken.contains("\(words[0].prefix(35))-\(number)") { number += 1 }
        return "\(words[0].prefix(35))-\(number)"
    }

    /// The ASCII letters and digits of a text in lower case, with a hyphen for each run of other characters.
    private static func plain(_ text: some StringProtocol) -> String {
        var name = ""
        // More bytes than a name has, because runs of other characters become one hyphen.
        for byte in text.utf8.prefix(200) {
            if 0x30...0x39 ~= byte || 0x61...0x7A ~= byte | 0x20 {
                name.unicodeScalars.append(Unicode.Scalar(byte >= 0x41 ? byte | 0x20 : byte))
            } else if !name.isEmpty, name.utf8.last != UInt8(ascii: "-") {
                name += "-"
            }
        }
        name = String(name.prefix(40))
        return name.hasSuffix("-") ? String(name.dropLast()) : name
    }
}

/// The result of the first fetch of a new source.
enum FirstFetch {
    case fetched
    case failed(SourceFailure)
    /// The daemon has refused the file.
    case refused
    /// The source is configured, but norrisctl did not see the end of the fetch.
    case unknown
}

/// The folder `sources.d` beside the configuration file, and the daemon that reads it.
struct SourceFolder {
    let path: String
    private let session: Session
    /// The command that a user without permission repeats with sudo(8).
    private let command: [String]

    /// - Parameter command: the words after `norrisctl`.
    init(_ session: Session, command: [String]) throws(Failure) {
        let info = try session.call(ServerInfo.self).value
        guard let file = info.configPath, let slash = file.lastIndex(of: "/") else {
            throw Failure(
                .configuration, "norrisd has no folder for its configuration.", hint: "Start it with --config FILE.")
        }
        path = "\(file[..<slash])/sources.d"
        (self.session, self.command) = (session, command)
    }

    func file(_ name: String) -> String { "\(path)/\(name).yaml" }

    func contains(_ name: String) -> Bool { session.system.exists(file(name)) }

    /// The complete URL of a source. The daemon leaves out passwords and queries, which only the source's file has.
    func url(of source: PostSources.Source) -> String {
        guard NewSource.isName(source.name), let file = try? session.system.readFile(file(source.name), 65_536) else {
            return source.url
        }
        return NewSource.url(in: file) ?? source.url
    }

    /// Writes the files of all sources, or none.
    func write(_ sources: [NewSource]) throws(Failure) {
        do throws(SystemError) { try session.system.makeFolder(path) } catch { throw failure(error, path) }
        for (index, source) in sources.enumerated() {
            do throws(SystemError) { try session.system.writeFile(file(source.name), source.file) } catch {
                remove(sources[..<index].map(\.name))
                throw failure(error, file(source.name))
            }
        }
    }

    private func failure(_ error: SystemError, _ path: String) -> Failure {
        // EPERM and EACCES.
        guard [1, 13].contains(error.code) else {
            return Failure(.inputOutput, "\(path) cannot be written: \(error.reason).", hint: "Nothing was changed.")
        }
        return permissionFailure(path)
    }

    /// sudo(8) clears the environment, so the command names a socket that the environment has selected.
    private func permissionFailure(_ path: String) -> Failure {
        let answered = session.sockets.first { session.system.listener($0) != nil }
        let socket = session.settings.socket ?? (answered == SocketPath.system ? nil : answered)
        let words = ["sudo", "norrisctl"] + command + optionWords(("--socket", socket))
        return Failure(
            .notPermitted, "You may not change \(path).", hint: shellCommand(words).map { "Run: \(command: $0)" })
    }

    func remove(_ names: [String]) { names.forEach { session.system.removeFile(file($0)) } }

    /// Deletes the file of a source.
    func delete(_ name: String) throws(Failure) {
        guard session.system.mayReplace(file(name)) else { throw permissionFailure(file(name)) }
        session.system.removeFile(file(name))
        if contains(name) { throw Failure(.inputOutput, "\(file(name)) cannot be deleted.") }
    }

    /// Reloads the configuration, and waits until each of the sources was fetched once or has failed.
    ///
    /// - Parameters:
    ///   - replaced: whether the sources existed before with other addresses, so that their stored failures are old.
    ///   - progress: called with the number of finished sources.
    /// - Throws: if the daemon refuses the reload, or is lost before its answer; then the files must be removed.
    func start(
        _ names: [String], replaced: Bool = false, progress: (Int) -> Void
    ) throws(Failure) -> [String: FirstFetch] {
        var results: [String: FirstFetch] = [:]
        // Events of new sources may precede the reply of the reload.
        var isReloaded = false
        let wanted = Set(names)
        let end = try session.follow(
            (EventSubscribe.name, EventSubscribe.Parameters(topics: [.source])), (ServerReload.name, NoMembers())
        ) { incoming throws(Failure) in
            if case .result(_, id: 2) = incoming {
                isReloaded = true
                try addKnown(wanted, replaced, &results)
            } else if case .event(_, let event) = incoming, let source = event.source, wanted.contains(source) {
                if event.phase == .finished { results[source] = .fetched }
                if event.phase == .failed {
                    results[source] = .failed(
                        event.error ?? SourceFailure(kind: .offline, message: "", since: event.at))
                }
            }
            if isReloaded, results.count == wanted.count { return .stop }
            if isReloaded { progress(results.count) }
            return .goOn(within: session.timeLeft)
        }
        if let end, !isReloaded { throw session.lost(end) }
        for name in wanted where results[name] == nil { results[name] = .unknown }
        return results
    }

    /// Adds the results of sources that were fetched before norrisctl could see it, and of refused sources.
    private func addKnown(
        _ names: Set<String>, _ replaced: Bool, _ results: inout [String: FirstFetch]
    ) throws(Failure) {
        let status = try session.call(ServerStatus.self).value
        let sources = Dictionary(status.sources.map { ($0.name, $0) }) { first, _ in first }
        for name in names where results[name] == nil {
            guard let source = sources[name] else {
                results[name] = .refused
                continue
            }
            if let error = source.freshness.error {
                if !replaced { results[name] = .failed(error) }
            } else if source.freshness.fetchedAt != nil, !replaced {
                results[name] = .fetched
            }
        }
    }

    /// Removes files of sources, and reloads. Errors are ignored, because another error is reported.
    func undo(_ names: [String]) {
        remove(names)
        _ = try? session.call(ServerReload.self)
    }
}
