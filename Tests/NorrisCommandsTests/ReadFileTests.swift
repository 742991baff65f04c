import Glibc
import NorrisCommands
import NorrisTestSupport
import Testing

struct ReadFileTests {
    @Test func readsAFileToItsEndOrPastTheLimit() throws {
        let folder = TemporaryFolder()
        let text = String(repeating: "0123456789", count: 10_000)
        let path = try folder.write(text, to: "f")
        #expect(try readFile(path, limit: 100_000) == Array(text.utf8))
        #expect(try readFile(path, limit: 20_000).count > 20_000)
        #expect(try readFile(path, limit: 20_000).count < 60_000)
        #expect(try readFile(try folder.write("", to: "e"), limit: 10) == [])
    }

    @Test func saysWhyAFileCannotBeRead() {
        let folder = TemporaryFolder()
        #expect(throws: ReadError(errno: ENOENT)) { try readFile(folder("nope"), limit: 10) }
        #expect(throws: ReadError(errno: ENOENT)) { try readFile("", limit: 10) }
        #expect(throws: ReadError(errno: EISDIR)) { try readFile(folder("."), limit: 10) }
        #expect(ReadError(errno: EISDIR).reason == "Is a directory")
    }
}
