import Foundation
import Glibc
import NorrisProtocol
import NorrisTestSupport
import Testing

@testable import NorrisStore

struct FortuneFilesTests {
    private let folder = TemporaryFolder()

    private func find(_ names: String...) -> (names: [String], faults: [String]) {
        let found = FortuneFiles.find(names.map { folder($0) })
        return (found.files.map { String($0.path.dropFirst(folder.path.utf8.count + 1)) }, found.faults.map(\.problem))
    }

    @Test func folderIsReadWithAllBelowIt() throws {
        for name in ["f/b", "f/a", "f/sub/c", "f/sub/deeper/d"] { try folder.write(name, "x") }
        #expect(find("f").names == ["f/a", "f/b", "f/sub/c", "f/sub/deeper/d"])
        #expect(find("f/").names.count == 4)
        #expect(find("f/b", "f/sub").names == ["f/b", "f/sub/c", "f/sub/deeper/d"])
        #expect(find("f").faults == [])
    }

    @Test func whatBelongsToAnotherFileIsNotRead() throws {
        let others = ["a.dat", "a.u8", ".hidden", ".git/config", "off/rude", "sub/off/rude"]
        for name in ["a", "offset", "dat", "x.dat.y"] + others { try folder.write("f/" + name, "x") }
        #expect(find("f").names == ["f/a", "f/dat", "f/offset", "f/x.dat.y"])
        #expect(find("f").faults == [])
        // A name in the configuration is read.
        #expect(find("f/off", "f/.hidden", "f/a.u8").names == ["f/off/rude", "f/.hidden", "f/a.u8"])
    }

    @Test func fileReachedTwiceIsReadOnce() throws {
        try folder.write("f/a", "x")
        #expect(symlink("a", folder("f/link")) == 0)
        #expect(link(folder("f/a"), folder("f/same")) == 0)
        #expect(symlink(folder("f"), folder("other")) == 0)
        #expect(find("f").names == ["f/a"])
        #expect(find("f", "f/a", "other", "f/../f", "f").names == ["f/a"])
        #expect(find("f/link").names == ["f/link"])
    }

    @Test func linksInALoopEnd() throws {
        try folder.write("f/sub/a", "x")
        #expect(symlink("..", folder("f/sub/up")) == 0)
        #expect(symlink(".", folder("f/self")) == 0)
        #expect(symlink("two", folder("f/one")) == 0)
        #expect(symlink("one", folder("f/two")) == 0)
        let found = find("f")
        #expect(found.names == ["f/sub/a"])
        // Two links that refer to each other are reported.
        #expect(found.faults.count == 2)
        #expect(found.faults.allSatisfy { $0.contains("Too many levels of symbolic links") })
    }

    @Test func pipesAndDevicesAreNotOpened() throws {
        try folder.write("f/a", "x")
        #expect(mkfifo(folder("f/pipe"), 0o600) == 0)
        #expect(symlink("/dev/zero", folder("f/zero")) == 0)
        let found = find("f")
        #expect(found.names == ["f/a"])
        #expect(found.faults.count == 2)
        #expect(found.faults.allSatisfy { $0.hasPrefix("is neither a file nor a folder") })
    }
}
