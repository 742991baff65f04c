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
            do {
                lines.append(try cut(Self.read(line), number))
            } catch {
                let message = "\(name), line \(number): \(error.message)"
                throw Failure(.usage, message, hint: "Nothing was imported. Mend the line or leave it out.")
            }
        }
        if lines.isEmpty {
            throw Failure(.usage, "\(name) is empty.", hint: "norrisctl favorite export prints what can be imported.")
        }
    }

    /// What is wrong with a line: a sentence.
    private struct Fault: Error {
        let message: String
    }

    private static func read(_ line: ArraySlice<UInt8>) throws(Fault) -> Favorite {
        let json: JSON
        do {
            json = try JSON.parse(line)
        } catch {
            throw Fault(message: "This is not JSON: \(error)")
        }
        var favorite: Favorite
        do {
            favorite = try Favorite(json: json)
        } catch {
            throw Fault(message: "\(error)")
        }
        guard Favorite.Kind.all.contains(favorite.kind) else { throw Fault(message: "kind must be fact, gif or post.") }
        guard !favorite.id.isEmpty else { throw Fault(message: "id must not be empty.") }
        // Of a GIF only id and title are stored.
        favorite.gif = nil
        return favorite
    }

    /// Takes the content of a favourite that would not fit into a request.
    private mutating func cut(_ favorite: Favorite, _ number: Int) throws(Fault) -> Line {
        var line = Line(number: number, favorite: favorite, length: favorite.jsonBytes.count)
        guard line.length > Self.longestItem else { return line }
        (line.favorite.fact, line.favorite.post) = (nil, nil)
        line.length = line.favorite.jsonBytes.count
        guard line.length <= Self.longestItem else {
            throw Fault(message: "id and title are too long for a request of \(LineSplitter.maximumRequest) bytes.")
        }
        cutCount += 1
        return line
    }
}
