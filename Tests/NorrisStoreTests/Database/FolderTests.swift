import Glibc
import Testing

@testable import NorrisStore

struct FolderTests {
    private let scratch = ScratchFolder()

    /// The mask is the whole process's, so that it needs one of its own.
    @Test func foldersAreMadeWithTheirParentsForThisUserOnly() async {
        await #expect(processExitsWith: .success) {
            umask(0)
            let scratch = ScratchFolder()
            try Folder.make(scratch["a/b/c"])
            for name in ["a", "a/b", "a/b/c"] { #expect(try scratch.mode(name) == 0o700) }
            try Folder.make(scratch["a/b/c"])
            try Folder.make(scratch["d/e/"])
            #expect(try scratch.mode("d/e") == 0o700)
        }
    }

    @Test func folderThatIsThereKeepsItsMode() throws {
        try Folder.make(scratch["a"])
        chmod(scratch["a"], 0o750)
        try Folder.make(scratch["a"])
        #expect(try scratch.mode("a") == 0o750)
    }

    @Test func fileInTheWayIsSaid() throws {
        let file = try scratch.write("file", "")
        for path in [file, file + "/a", file + "/a/b"] {
            let error = #expect(throws: StoreError.self) { try Folder.make(path) }
            #expect(error?.description.hasPrefix(file) == true)
            #expect(error?.description.contains("cannot be written") == true)
        }
    }

    @Test func freeBytesAreThoseOfTheFileSystem() throws {
        let path = try scratch.write("file", "a")
        let free = try #require(Folder.freeBytes(besides: path))
        #expect(free > 0)
        // proc(5) has no room at all.
        #expect(Folder.freeBytes(besides: "/proc/self/stat") == 0)
        #expect(Folder.freeBytes(besides: scratch["none"]) == nil)
    }

    @Test func identityTellsAFileFromOneMadeAnew() throws {
        let path = try scratch.write("file", "a")
        let before = Folder.identity(of: path)
        #expect(before != nil)
        #expect(Folder.identity(of: path) == before)
        // The first file stays alive under another name, so that its inode is not given out again.
        #expect(rename(path, scratch["old"]) == 0)
        #expect(Folder.identity(of: path) == nil)
        try scratch.write("file", "a")
        #expect(Folder.identity(of: path) != before)
    }
}
