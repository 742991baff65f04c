import NorrisTerminal

/// Arguments in the plainest spelling, read without ArgumentParser by the two commands that prompts and scripts run all
/// the time.
///
/// ArgumentParser makes the runtime look for protocol conformances in all of the program, which is most of the time of
/// such a short process. What is spelled in any other way, or is wrong, is left to it: there is one grammar, and one
/// set of errors.
struct PlainArguments {
    private var rest: ArraySlice<String>
    private var seen: [String] = []
    private(set) var settings = Settings()

    init(_ arguments: some Sequence<String>) {
        rest = Array(arguments)[...]
    }

    /// The next argument that is not an option of every command; nil at the end.
    mutating func next() throws(NotPlain) -> String? {
        while let argument = rest.popFirst() {
            switch argument {
            case "--json", "-j": settings.json = true
            case "--plain": settings.plain = true
            case "--no-pager": settings.usesPager = false
            case "--width": settings.width = try integer(1...10_000, of: argument)
            case "--color": settings.color = try value(of: argument) { ColorChoice(rawValue: $0) }
            case "--socket": settings.socket = try value(of: argument)
            case "--timeout": settings.timeout = try value(of: argument) { Timeout($0) }
            default: return argument
            }
        }
        return nil
    }

    /// The value of an option that may be repeated.
    mutating func repeatedValue() throws(NotPlain) -> String {
        // What begins with a dash may be an option.
        guard let value = rest.popFirst(), value.utf8.first != UInt8(ascii: "-") else { throw NotPlain() }
        return value
    }

    mutating func value(of option: String) throws(NotPlain) -> String {
        guard !seen.contains(option) else { throw NotPlain() }
        seen.append(option)
        return try repeatedValue()
    }

    mutating func value<Value>(of option: String, _ read: (String) -> Value?) throws(NotPlain) -> Value {
        guard let value = read(try value(of: option)) else { throw NotPlain() }
        return value
    }

    mutating func integer(_ range: ClosedRange<Int>, of option: String) throws(NotPlain) -> Int {
        try value(of: option) { text in Int(text).flatMap { range.contains($0) ? $0 : nil } }
    }
}

/// Arguments that ArgumentParser has to see.
struct NotPlain: Error {}

extension Report {
    /// The report of a command that can be read without ArgumentParser; nil where ArgumentParser has to see the
    /// arguments.
    init?(plainly arguments: [String], system: System) {
        var rest = PlainArguments(arguments.dropFirst())
        do {
            switch arguments.first {
            case "fact", "random":
                let request = try FactRequest(&rest)
                self.init(of: Session(settings: rest.settings, system: system), request.report)
            case "prompt":
                let request = try PromptRequest(&rest)
                self = request.report(Session(settings: rest.settings, system: system))
            default: return nil
            }
        } catch {
            return nil
        }
    }
}

extension FactRequest {
    /// - Throws: also where the request makes no sense.
    fileprivate init(_ arguments: inout PlainArguments) throws(NotPlain) {
        while let argument = try arguments.next() {
            switch argument {
            case "--category", "-c": categories.append(try arguments.repeatedValue())
            case "--count", "-n": count = try arguments.integer(1...100, of: "--count")
            case "--max-length", "-l": maxLength = try arguments.integer(1...10_000, of: "--max-length")
            case "--name": name = try arguments.value(of: argument)
            case "--id": id = try arguments.value(of: argument)
            case "--today": isToday = true
            case "--explicit": allowsExplicit = true
            default: throw NotPlain()
            }
        }
        if contradiction != nil { throw NotPlain() }
    }
}

extension PromptRequest {
    fileprivate init(_ arguments: inout PlainArguments) throws(NotPlain) {
        while let argument = try arguments.next() {
            guard argument == "--max-length" else { throw NotPlain() }
            maxLength = try arguments.integer(1...10_000, of: argument)
        }
    }
}
