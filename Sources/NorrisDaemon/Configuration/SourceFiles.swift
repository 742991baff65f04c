import Glibc
import NorrisSystem

/// Files `sources.d/NAME.yaml` beside the configuration file. Each file contains one entry of `posts.sources`.
///
/// A fault disables the source of its file alone, because programs write these files.
extension ConfigurationLoader {
    private static let maximumSources = 1000
    private static let maximumBytes = 64 << 10

    /// Adds the sources in the order of the names of their files, after the sources of the configuration file.
    func addSources(beside file: String, to loaded: inout Loaded) {
        let folder = Paths.join(Paths.parent(of: absolute(file)), "sources.d")
        var names: [String] = []
        do {
            names = try Self.sourceFiles(in: folder)
        } catch {
            let isMissing = error.code == ENOENT || error.code == ENOTDIR && access(folder, F_OK) != 0
            guard !isMissing else { return }
            let advice = error.code == EACCES ? "; let the user that norrisd runs as read it" : ""
            let message = "cannot be read: \(error.reason)\(advice)"
            loaded.warnings.append(ConfigurationFault(file: folder, message: message))
        }
        if names.count > Self.maximumSources {
            let message =
                "has \(names.count) files, of which only the first \(Self.maximumSources) are read; remove some"
            loaded.warnings.append(ConfigurationFault(file: folder, message: message))
        }
        var taken = Set(loaded.configuration.posts.sources.map(\.name))
        for name in names.prefix(Self.maximumSources) {
            let path = Paths.join(folder, name)
            do throws(ConfigurationError) {
                let (source, warnings) = try source(path, inheriting: loaded.configuration.posts)
                guard taken.insert(source.name).inserted else {
                    let message = "has the name of a source in \(file); remove one of the two"
                    throw ConfigurationError(faults: [ConfigurationFault(file: path, message: message)])
                }
                loaded.configuration.posts.sources.append(source)
                loaded.warnings += warnings
            } catch {
                loaded.faultySources.append(path)
                loaded.warnings += error.faults
            }
        }
    }

    /// Reads the file of one source, for a check of that file alone.
    ///
    /// - Returns: nil if the file is not in a folder `sources.d`, and therefore is a whole configuration.
    func loadSource(_ file: Paths.ConfigurationFile?) throws(ConfigurationError) -> Loaded? {
        guard let path = file.map({ absolute($0.path) }), Paths.parent(of: path).hasSuffix("/sources.d") else {
            return nil
        }
        var loaded = Loaded(configuration: Configuration())
        let (source, warnings) = try source(path, inheriting: loaded.configuration.posts)
        loaded.configuration.posts.sources = [source]
        loaded.warnings = warnings
        return loaded
    }

    /// Reads the file of one source.
    private func source(
        _ path: String, inheriting posts: Configuration.Posts
    ) throws(ConfigurationError) -> (source: Configuration.PostSource, warnings: [ConfigurationFault]) {
        let bytes = try Self.read(.init(path: path, isNamed: true), limit: Self.maximumBytes) ?? []
        var reader = ConfigurationReader(
            file: path, context: .init(folder: Paths.parent(of: path), home: home, checksSystem: checksSystem))
        let document = YAMLDocument(bytes)
        if let problem = document.problem { reader.refuse(problem) }
        let name = String((path.split(separator: "/").last ?? "").dropLast(".yaml".utf8.count))
        let root = document.root ?? YAMLNode(content: .mapping([]), path: "", mark: .init(), keyMark: .init())
        let isWorthReading = document.root != nil || document.problem == nil
        guard isWorthReading, reader.isReadable(root) else { throw ConfigurationError(faults: reader.faults) }
        let source = reader.readSource(name, root, inheriting: posts)
        guard reader.faultCount == 0 else { throw ConfigurationError(faults: reader.faults) }
        return (source, reader.warnings)
    }

    func absolute(_ path: String) -> String { path.hasPrefix("/") ? path : Paths.join(currentDirectory, path) }

    /// The names of the files, sorted by their bytes. Hidden files are skipped, because editors make them.
    private static func sourceFiles(in folder: String) throws(SystemError) -> [String] {
        guard let stream = opendir(folder) else { throw SystemError("opendir") }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name.hasSuffix(".yaml"), !name.hasPrefix(".") { names.append(name) }
        }
        return names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }
}
