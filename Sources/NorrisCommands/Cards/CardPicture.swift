import NorrisProtocol
import NorrisTerminal

/// A picture that norris-card has drawn.
struct CardPicture {
    /// The file, a PNG.
    let bytes: [UInt8]

    /// In pixels.
    let width: Int
    let height: Int

    /// nil for what is no PNG.
    ///
    /// Source: PNG specification (third edition), 5.2 "PNG signature", and 11.2.1 "IHDR", the chunk that comes first.
    init?(_ bytes: [UInt8]) {
        let start: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 13] + Array("IHDR".utf8)
        guard bytes.count >= 24, bytes.starts(with: start) else { return nil }
        self.bytes = bytes
        width = bytes[16..<20].reduce(0) { $0 << 8 | Int($1) }
        height = bytes[20..<24].reduce(0) { $0 << 8 | Int($1) }
    }

    /// Writes it into a file.
    ///
    /// - Returns: what has been done, as a sentence.
    func write(to path: String, _ session: Session) throws(Failure) -> String {
        do {
            try session.system.writeFile(path, bytes)
        } catch {
            var failure = Failure(.inputOutput, "\(path.quotedForMessage) cannot be written: \(error.reason).")
            if case .notReplaced = error {
                let file = shellCommand([path]) ?? "FILE"
                failure.hint = "The file itself can be written all the same: norrisctl card ... -o - > \(file)"
            }
            throw failure
        }
        return "Wrote \(path), \(width) × \(height)."
    }
}
