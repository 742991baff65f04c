import ArgumentParser

/// What else is done with content that has been found, by programs that norrisctl hands it to.
enum Handover: String {
    case copy, open, show

    /// The flag that asks for it.
    var flag: String { "--\(rawValue)" }
}

extension GlobalOptions {
    /// Refuses what makes no sense with such a flag.
    func check(handovers: [Handover]) throws {
        if json, let handover = handovers.first {
            throw ValidationError("--json is for programs: leave out \(handover.flag).")
        }
    }
}
