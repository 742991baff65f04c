import Glibc
import NorrisProtocol
import NorrisText

@testable import NorrisStore

/// Fortune files of any bytes; the first bytes may be the header of `NAME.dat`.
@Sendable func fuzzFortunes(_ input: ArraySlice<UInt8>) {
    let folder = "/tmp/norris-fuzz-\(getpid())"
    mkdir(folder, 0o700)
    write(input.prefix(24), to: folder + "/a.dat")
    write(input, to: folder + "/a")
    var fortunes = Fortunes()
    for file in FortuneFiles.find([folder + "/a"]).files { fortunes.read(file) }
    for fact in fortunes.facts {
        requireSafe(fact.text)
        require(
            (1...Fact.maximumLength).contains(fact.text.unicodeScalars.count), "A text of \(fact.length) characters")
    }
}

private func write(_ bytes: ArraySlice<UInt8>, to path: String) {
    let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
    require(
        bytes.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) } == bytes.count, "No temporary file")
    close(descriptor)
}

/// Content of the databases, and cursors of lists.
@Sendable func fuzzRecords(_ input: ArraySlice<UInt8>) {
    let text = text(input)
    let bytes = Array(text.utf8)
    if let fact = try? Fact(parsing: bytes) {
        require((try? Fact(parsing: fact.jsonBytes)) == fact, "The fact changes")
    }
    if let gif = try? Gif(parsing: bytes) {
        require((try? Gif(parsing: gif.jsonBytes)) == gif, "The GIF changes")
    }
    if let post = try? Post(parsing: bytes) {
        require((try? Post(parsing: post.jsonBytes)) == post, "The post changes")
    }
    if let favorite = try? Favorite(parsing: bytes),
        let checked = try? favorite.checked(at: Timestamp(seconds: 1_790_000_000))
    {
        requireSafe(checked.title)
        requireSafe(checked.fact?.text)
        requireSafe(checked.post?.text)
    }
    if let cursor = try? SealedCursor(text, of: ["list"], key: 7) {
        require(cursor.sealed(for: ["list"], key: 7) == text, "A cursor was accepted in another form")
        require((try? SealedCursor(text, of: ["other"], key: 7)) == nil, "A cursor was accepted for another list")
    }
    if let filter = FactFilter(key: text) { require(filter.key == text, "A filter was accepted in another form") }
}

/// A stored shuffle, damaged anyhow, serves every fact before it repeats any.
@Sendable func fuzzShuffles(_ input: ArraySlice<UInt8>) {
    var input = input
    let maxLength = input.takeByte()
    let filter = FactFilter(maxLength: maxLength == 0 ? nil : Int(maxLength))
    var builder = FactCatalogue.Builder()
    for number in 1...20 {
        let text = "\(number)" + String(repeating: "x", count: number * 10)
        builder.add(Fact(id: "\(number)", text: text, categories: [], source: "chucknorris"))
    }
    let catalogue = builder.finish()
    guard var shuffle = Shuffle(encoded: Array(input)) else { return }
    require(Shuffle(encoded: shuffle.encoded)?.last == shuffle.last, "The shuffle changes when it is read again")
    let matching = catalogue.numbers(filter).count
    var served: Set<UInt32> = []
    // The damaged cycle ends after at most as many facts as there are, and the next one is whole.
    for _ in 0..<3 * matching {
        guard let number = shuffle.next(filter, from: catalogue) else {
            fatalError("No fact, although \(matching) match")
        }
        served.insert(number)
    }
    require(served.count == matching, "\(served.count) facts of \(matching) were served in three cycles")
}
