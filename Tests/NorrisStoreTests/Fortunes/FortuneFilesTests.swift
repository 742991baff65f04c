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

    @Test func nameIsWhatFollowsTheLastSlash() {
        for (path, name) in [("/f/a", "a"), ("/f/\u{301}a", "\u{301}a"), ("/f/a/", "a"), ("a", "a"), ("/", "/")] {
            #expect(lastComponent(of: path).hasSameBytes(as: name))
        }
    }

    @Test func whatBelongsToAnotherFileIsNotRead() throws {
        let others = ["a.dat", "a.u8", ".hidden", ".git/config", "off/rude", "sub/off/rude"]
        for name in ["a", "offset", "dat", "x.dat.y"] + others { try folder.write("f/" + name, "x") }
        #expect(find("f").names == ["f/a", "f/dat", "f/offset", "f/x.dat.y"])
        #expect(find("f").faults == [])
    }

    @Test func whatIsNamedIsRead() throws {
        try folder.write("f/off/rude", "x")
        try folder.write("f/.hidden", "x")
        try folder.write("f/a.u8", "x")
        #expect(find("f/off").names == ["f/off/rude"])
        #expect(find("f/off/").names.count == 1)
        #expect(find("f/.hidden", "f/a.u8").names == ["f/.hidden", "f/a.u8"])
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

    @Test func missingPathIsSaid() {
        #expect(find("none").faults == ["cannot be read (No such file or directory); check facts.fortunes"])
    }

    @Test(arguments: [16 * 1024 * 1024 + 1, 1 << 30]) func tooLargeFileIsNotOpened(size: Int) throws {
        let path = try folder.write("f/large", "")
        #expect(truncate(path, off_t(size)) == 0)
        try folder.write("f/small", "x")
        #expect(find("f").names == ["f/small"])
        #expect(find("f").faults == ["is larger than 16 MiB; split it, or take it out of facts.fortunes"])
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

    @Test func folderThatCannotBeListedIsSaid() throws {
        try folder.write("f/a", "x")
        chmod(folder("f"), 0)
        defer { chmod(folder("f"), 0o700) }
        let found = asNobody { find("f") }
        #expect(found.faults == ["cannot be listed (Permission denied); check its permissions"])
    }

    @Test func digestTellsEveryChange() throws {
        var digests: [String] = []
        func note() { digests.append(FortuneFiles.find([folder("f")]).digest) }
        try folder.write("f/a", "one")
        note()
        try folder.write("f/b", "two")
        note()
        try folder.write("f/b", "three")
        note()
        // The same size, but another modification time.
        let path = try folder.write("f/b", "seven")
        try FileManager.default.setAttributes([.modificationDate: Date(timeIntervalSince1970: 1)], ofItemAtPath: path)
        note()
        #expect(rename(path, folder("f/c")) == 0)
        note()
        try folder.remove("f/c")
        try folder.remove("f/a")
        note()
        #expect(Set(digests).count == digests.count)
        note()
        #expect(digests.last == digests.dropLast().last)
        #expect(FortuneFiles.find([]).digest == FortuneFiles.find([]).digest)
    }
}

struct FortuneTextTests {
    private func texts(_ text: String) -> [String] { texts(in: Array(text.utf8)) }

    private func texts(in bytes: some Collection<UInt8>) -> [String] {
        var texts: [String] = []
        Fortunes.forEachText(in: bytes) { texts.append($0) }
        return texts
    }

    @Test(arguments: [
        ("", []), ("\n", []), ("%\n", []), ("%", []), ("%\n%\n%\n", []), ("One.\n%\nTwo.\n%\n", ["One.", "Two."]),
        ("One.\n%\nTwo.\n", ["One.", "Two."]), ("One.\n%\nTwo.", ["One.", "Two."]),
        ("%\nOne.\n%\n%\n\n%\nTwo.\n%", ["One.", "Two."]),
        // Only a line that consists of a single percent sign ends a text.
        ("100%\n%%\n% \n %\n%x\n", ["100%\n%%\n% \n %\n%x"]),
        ("One.\r\nMore.\r\n%\r\nTwo.\r\n", ["One.\nMore.", "Two."]),
        ("\n \n\n  One.\n\n  More.\n \t\n\n%\nTwo. \t\n", ["  One.\n\n  More.", "Two."]),
        ("\tOne\tand\n", ["\tOne\tand"]),
    ]) func linesOfAPercentSignDivide(text: String, expected: [String]) { #expect(texts(text) == expected) }

    @Test(arguments: [
        ("_\u{8}a_\u{8}b", "ab"), ("b\u{8}bo\u{8}old", "bold"), ("x_\u{8}\u{8}\u{8}y", "y"), ("é\u{8}e", "e"),
        ("_\u{8}é", "é"), ("\u{8}\u{8}a", "a"), ("a\n\u{8}b", "a\nb"), ("a\u{8}\u{8}\u{8}", ""),
    ]) func laterCharacterOfAnOverstrikeStays(text: String, expected: String) {
        #expect(texts(text) == [expected].filter { !$0.isEmpty })
    }

    @Test(arguments: [
        ("\u{1B}[31mred\u{1B}[0m", "red"), ("\u{1B}]0;title\u{7}text", "text"), ("a\u{7}b\u{7F}c\u{85}d", "abcd"),
        ("a\u{202E}b\u{2066}c", "abc"), ("\u{1B}[2J", ""), ("\u{200B}\u{FEFF}", ""),
    ]) func nothingThatMovesATerminalStays(text: String, expected: String) {
        #expect(texts(text) == [expected].filter { !$0.isEmpty })
    }

    @Test func invalidBytesAreLeftOut() {
        #expect(texts(in: [0x61, 0xFF, 0x62, 0xC3, 0x0A, 0x25, 0x0A, 0xE9, 0x74, 0xE9]) == ["ab", "t"])
        #expect(texts(in: [0xFF, 0xFE, 0x0A, 0x25, 0x0A, 0x63]) == ["c"])
    }

    @Test func textsOfAnyLengthAFactMayHaveAreRead() {
        let longest = String(repeating: "é", count: 10_000)
        #expect(texts("\(longest)\n%\n\(longest)x\n%\nshort") == [longest, "short"])
    }

    // MARK: Large files

    /// Bytes that count their reads.
    private struct CountedBytes: RandomAccessCollection {
        final class Reads { var count = 0 }

        let bytes: [UInt8]
        let reads = Reads()
        var startIndex: Int { 0 }
        var endIndex: Int { bytes.count }

        subscript(index: Int) -> UInt8 {
            reads.count += 1
            return bytes[index]
        }
    }

    @Test(arguments: ["\n", "%\n", "%", "x", "\u{8}", "x\n%\n"]) func eachByteIsLookedAtAFewTimes(unit: String) {
        let counted = CountedBytes(bytes: Array(String(repeating: unit, count: 20_000).utf8))
        _ = texts(in: counted)
        #expect(counted.reads.count <= 5 * counted.count)
    }
}
