import Yams

/// Makes a `Configuration` of a file, or says everything that is wrong with it.
///
/// Reads the disk in `load` only; no other state, so it serves a start, `--check-config` and a reload alike.
package struct ConfigurationLoader: Sendable {
    /// A configuration that may be used, and what its author should hear all the same.
    package struct Loaded: Sendable, Equatable {
        package var configuration: Configuration
        package var warnings: [ConfigurationFault]

        package init(configuration: Configuration, warnings: [ConfigurationFault] = []) {
            self.configuration = configuration
            self.warnings = warnings
        }
    }

    /// What `~/` means; nil if nobody knows it.
    let home: String?
    /// What a relative path of a configuration file is relative to; absolute.
    let currentDirectory: String

    package init(home: String?, currentDirectory: String) {
        self.home = home
        self.currentDirectory = currentDirectory
    }

    /// Reads the file that `Paths` found; the defaults if there is none and nobody named it.
    package func load(_ file: Paths.ConfigurationFile?) throws(ConfigurationError) -> Loaded {
        guard let file else { return Loaded(configuration: Configuration()) }
        let bytes: [UInt8]
        do throws(ConfigurationFileError) {
            bytes = try ConfigurationFileContents.read(file.path)
        } catch {
            if case .missing = error, !file.isNamed {
                return Loaded(configuration: Configuration())
            }
            throw ConfigurationError(faults: [ConfigurationFault(file: file.path, message: error.message)])
        }
        return try parse(bytes: bytes, file: file.path)
    }

    /// Reads a file that must exist.
    package func load(path: String) throws(ConfigurationError) -> Loaded {
        try load(Paths.ConfigurationFile(path: path, isNamed: true))
    }

    /// Reads the text of a file.
    /// - Parameter file: its path, for messages and for what the text is relative to; not opened.
    package func parse(yaml: String, file: String) throws(ConfigurationError) -> Loaded {
        let path = file.hasPrefix("/") ? file : Paths.join(currentDirectory, file)
        var reader = ConfigurationReader(
            file: file, place: ConfigurationPlace(folder: Paths.parent(of: path), home: home)
        )
        var configuration = Configuration()
        if let root = try Self.root(of: yaml, file: file) {
            let spot = ConfigurationSpot(root, line: 1, path: "")
            if reader.acceptsTag(of: spot) {
                reader.read(ConfigurationSchema.keys, in: spot, into: &configuration)
            }
        }
        guard reader.faults.isEmpty else {
            throw ConfigurationError(faults: reader.faults.inFileOrder)
        }
        return Loaded(configuration: configuration, warnings: reader.warnings.inFileOrder)
    }

    private func parse(bytes: [UInt8], file: String) throws(ConfigurationError) -> Loaded {
        if let line = ConfigurationFileContents.lineOfInvalidUTF8(in: bytes) {
            let message = "is not UTF-8; save the file in that encoding"
            throw ConfigurationError(faults: [ConfigurationFault(file: file, line: line, message: message)])
        }
        return try parse(yaml: String(decoding: bytes, as: UTF8.self), file: file)
    }

    /// The only document of a text; nil if there is nothing in it.
    private static func root(of yaml: String, file: String) throws(ConfigurationError) -> Node? {
        do {
            // Without rules for tags: what a plain scalar is, `PlainScalarKind` decides.
            let parser = try Parser(yaml: yaml, resolver: .basic, encoding: .utf8)
            let root = try parser.nextRoot()
            if root != nil, let second = try parser.nextRoot() {
                let message = "holds a second document; keep one and remove the line --- between them"
                throw ConfigurationError(
                    faults: [ConfigurationFault(file: file, line: second.mark?.line, message: message)]
                )
            }
            return root
        } catch let error as ConfigurationError {
            throw error
        } catch {
            throw ConfigurationError(faults: [ConfigurationFault(yaml: error, file: file)])
        }
    }
}

extension [ConfigurationFault] {
    /// By line; the sort is stable, so those of one line stay in the schema's order.
    fileprivate var inFileOrder: Self {
        sorted { ($0.line ?? 0) < ($1.line ?? 0) }
    }
}
