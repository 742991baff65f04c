extension Configuration {
    /// All of it as YAML, for `--print-config`, in the schema's order.
    ///
    /// Read again it gives an equal configuration, but for the password of a proxy, which is written as `***`.
    package var yaml: String {
        Self.lines(of: ConfigurationSchema.keys, in: self, indentation: "").joined(separator: "\n") + "\n"
    }

    private static func lines(
        of keys: [ConfigurationKey<Configuration>], in configuration: Configuration, indentation: String
    ) -> [String] {
        keys.flatMap { key in
            switch key.content {
            case .section(let inner):
                return ["\(indentation)\(key.name):"]
                    + lines(of: inner, in: configuration, indentation: indentation + "  ")
            case .value(let member):
                let value = member.write(configuration)
                return ["\(indentation)\(key.name):" + (value.hasPrefix("\n") ? value : " " + value)]
            }
        }
    }
}
