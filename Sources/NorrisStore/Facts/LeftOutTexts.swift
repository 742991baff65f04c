import NorrisProtocol

/// Makes what was left out for its text come back when nothing else has the text any more.
///
/// What is left out is written down nowhere. A mark says that fortunes were left out; while it is set and a text gets
/// free, the fortune files count as not read, so that the next import of them reads them again.
struct LeftOutTexts {
    /// The key in `meta` of the digest of the fortune files that were read.
    static let fortunesMark = "fortunes_digest"
    /// The key in `meta` that is there while fortunes are left out.
    private static let leftOutMark = "fortunes_left_out"

    private var leavesOutFortunes = false
    private var freesTexts = false

    /// A stored fact of the imported group went, or has another text now.
    mutating func isFree() {
        freesTexts = true
    }

    /// A fact of a group is not stored, or not any more, for a fact with its text outranks it.
    mutating func isLeftOut(of group: FactGroup) {
        if group == .fortunes { leavesOutFortunes = true }
    }

    /// An import of fortune files begins: all that is left out will be marked again.
    static func beginFortunes(_ database: Database) throws {
        try CacheDatabase.set(nil, forKey: leftOutMark, database)
        // Until its end the files count as not read, whatever was read before.
        try CacheDatabase.set(reading, forKey: fortunesMark, database)
    }

    /// An import of fortune files ends; where a text got free meanwhile, the files still count as not read.
    static func endFortunes(digest: String, _ database: Database) throws {
        guard try CacheDatabase.value(forKey: fortunesMark, database) == reading else { return }
        try CacheDatabase.set(digest, forKey: fortunesMark, database)
    }

    private static let reading = "reading"

    /// Writes down what follows from an import, within its transaction.
    func write(after group: FactGroup, _ database: Database) throws {
        if leavesOutFortunes { try CacheDatabase.set("yes", forKey: LeftOutTexts.leftOutMark, database) }
        guard freesTexts, group != .fortunes else { return }
        if try CacheDatabase.value(forKey: LeftOutTexts.leftOutMark, database) != nil {
            try CacheDatabase.set(nil, forKey: LeftOutTexts.fortunesMark, database)
        }
        // The upstream may have had the text too; only a whole reply brings its fact.
        if group == .builtin { try FetchRecord.removeValidators(of: FactStore.upstreamSource, database) }
    }
}
