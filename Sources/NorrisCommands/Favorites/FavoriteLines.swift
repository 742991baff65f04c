import NorrisProtocol

/// The favourites of an exported file, each from a line that has been checked.
struct FavoriteLines {
    /// A favourite and the number of its line, from 1.
    struct Line {
        let number: Int
        var favorite: Favorite
        /// The length of its JSON in a request, in bytes.
        var length: Int
    }

    /// At least one, in the order of the file.
    private(set) var lines: [Line] = []
    /// How many are too large for a request and have lost their content.
    private(set) var cutCount = 0
    /// What a favourite may take of a request line, in bytes.
    static let longestItem = LineSplitter.maximumRequest - FavoriteUpload.envelopeLength

    /// Checks all lines; blank ones are passed over.
    ///
    /// - Parameter name: of the file, for messages.
    init(_ bytes: [UInt8], of name: String) throws(Failure) {
        var number = 0
        var rest = bytes[...]
        while !rest.isEmpty {
            number += 1
            let line = rest.prefix { $0 != UInt8(ascii: "\n") }
            rest = rest[line.endIndex...].dropFirst()
            guard line.contains(where: { !" \t\r".utf8.contains($0) }) else { continue }
            guard lines.count < FavoriteList.maximum else {
                throw Failure(
                    .usage, "\(name) has more than 10,000 items, which is as many as can be kept.",
                    hint: "Leave some out, such as the last lines: head -n 10000"
                )
            }
            let position = "\(name), line \(number)"
            lines.append(try cut(try Self.read(line, position), number, position))
        }
        if lines.isEmpty {
            throw Failure(.usage, "\(name) is empty.", hint: "norrisctl favorite export prints what can be imported.")
        }
    }

    private static func fault(_ position: String, _ message: String) -> Failure {
        Failure(.usage, "\(position): \(message)", hint: "Nothing was imported. Mend the line or leave it out.")
    }

    private static func read(_ line: ArraySlice<UInt8>, _ position: String) throws(Failure) -> Favorite {
        let json: JSON
        do {
            json = try JSON.parse(line)
        } catch {
            throw fault(position, "This is not JSON: \(error)")
        }
        var favorite: Favorite
        do {
            favorite = try Favorite(json: json)
        } catch {
            throw fault(position, "\(error)")
        }
        guard Favorite.Kind.all.contains(favorite.kind) else {
            throw fault(position, "kind must be fact, gif or post.")
        }
        guard !favorite.id.isEmpty else { throw fault(position, "id must not be empty.") }
        // Of a GIF only id and title are stored.
        favorite.gif = nil
        return favorite
    }

    /// Removes the content of a favourite that would not fit into a request.
    private mutating func cut(_ favorite: Favorite, _ number: Int, _ position: String) throws(Failure) -> Line {
        var line = Line(number: number, favorite: favorite, length: favorite.jsonBytes.count)
        guard line.length > Self.longestItem else { return line }
        (line.favorite.fact, line.favorite.post) = (nil, nil)
        line.length = line.favorite.jsonBytes.count
        guard line.length <= Self.longestItem else {
            let limit = LineSplitter.maximumRequest
            throw Self.fault(position, "id and title are too long for a request of \(limit) bytes.")
        }
        cutCount += 1
        return line
    }
}
