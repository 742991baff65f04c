import NorrisProtocol
import NorrisText

@testable import NorrisStore

/// Fortune files of any bytes.
@Sendable func fuzzFortunes(_ input: ArraySlice<UInt8>) {
    Fortunes.forEachText(in: input) { text in
        requireSafe(text)
        require((1...Fact.maximumLength).contains(text.unicodeScalars.count), "A text of \(text.count) characters")
    }
}

/// Records of the fact file, content of the databases, and cursors of lists.
@Sendable func fuzzRecords(_ input: ArraySlice<UInt8>) {
    input.withUnsafeBytes { bytes in
        if let fact = FactRecord.check(0, bytes, key: 0) { _ = fact.record }
        if let fact = FactRecord.read(0, bytes) { _ = Array(fact.json) }
    }
    let text = text(input)
    if let json = try? JSON.parse(text) {
        if let fact = try? Fact(json: json) {
            require(read(fact.jsonBytes, Fact.init(json:)) == fact, "The fact changes")
        }
        if let gif = try? Gif(json: json) { require(read(gif.jsonBytes, Gif.init(json:)) == gif, "The GIF changes") }
        if let post = try? Post(json: json) {
            require(read(post.jsonBytes, Post.init(json:)) == post, "The post changes")
        }
        if let favorite = try? Favorite(json: json) {
            if let checked = try? favorite.checked(at: Timestamp(seconds: 1_790_000_000)) {
                requireSafe(checked.title)
                requireSafe(checked.fact?.text)
                requireSafe(checked.post?.text)
            }
        }
    }
    if let cursor = try? SealedCursor(text, of: ["list"], key: 7) {
        require(cursor.sealed(for: ["list"], key: 7) == text, "A cursor was accepted in another form")
        require((try? SealedCursor(text, of: ["other"], key: 7)) == nil, "A cursor was accepted for another list")
    }
    if let filter = ShuffleFilter(key: text) { require(filter.key == text, "A filter was accepted in another form") }
}

private func read<Value>(_ bytes: [UInt8], _ decode: (JSON) throws -> Value) -> Value? {
    (try? JSON.parse(bytes)).flatMap { try? decode($0) }
}

/// A stored shuffle, damaged anyhow, serves every fact before it repeats any.
@Sendable func fuzzShuffles(_ input: ArraySlice<UInt8>) {
    var input = input
    let maxLength = input.takeByte()
    let filter = ShuffleFilter(source: .all)
    var index = FactIndex()
    let lists = filter.lists.map { index.position(of: $0) }
    var changes = FactChanges()
    for ordinal in 1...20 {
        let name = FactListName(category: "", kind: ordinal.isMultiple(of: 3) ? .fortune : .norris)
        changes.addedEntries[name, default: []].append((UInt32(ordinal), ordinal * 10))
    }
    for (name, entries) in changes.addedEntries {
        changes.lists[name] = .init(number: SequenceNumber(), epoch: 1, count: entries.count, live: entries.count)
    }
    index.apply(changes)
    guard var shuffle = Shuffle(encoded: Array(input), lists: lists) else { return }
    require(Shuffle(encoded: shuffle.encoded, lists: lists) == shuffle, "The shuffle changes when it is read again")
    let longest = maxLength == 0 ? nil : Int(maxLength)
    shuffle.attach(to: index, longest)
    var served: Set<UInt32> = []
    let matching = (1...20).count { longest == nil || $0 * 10 <= longest ?? 0 }
    // The damaged cycle ends after at most as many facts as there are, and the next one is whole.
    for _ in 0..<3 * matching {
        guard let ordinal = shuffle.next(from: index, longest) else {
            fatalError("No fact, although \(matching) match")
        }
        require((1...20).contains(ordinal), "The fact \(ordinal) does not exist")
        served.insert(ordinal)
    }
    require(served.count >= matching, "\(served.count) facts of \(matching) were served in three cycles")
}
