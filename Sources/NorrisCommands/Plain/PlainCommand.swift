extension Report {
    /// What a command comes to that can be read without ArgumentParser, where it is spelled plainly; nil where
    /// ArgumentParser has to see the arguments.
    init?(plainly arguments: [String], system: System) {
        var rest = PlainArguments(arguments.dropFirst())
        do {
            switch arguments.first {
            case "fact":
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
            case "--category": categories.append(try arguments.repeatedValue())
            case "--count": count = try arguments.integer(1...100, of: argument)
            case "--max-length": maxLength = try arguments.integer(1...10_000, of: argument)
            case "--name": name = try arguments.value(of: argument)
            case "--id": id = try arguments.value(of: argument)
            case "--today": isToday = true
            case "--explicit": allowsExplicit = true
            default: throw NotPlain()
            }
        }
        if contradiction != nil {
            throw NotPlain()
        }
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
