import Foundation
import NorrisTestSupport
import Testing

@testable import NorrisDaemon

/// The file that shells read, on a real disk.
struct PromptFileTests {
    private let scratch = TemporaryFolder()

    private var file: PromptFile { PromptFile(folder: scratch("run")) }

    private func names(_ folder: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder)
    }

    private func mode(_ path: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    }

    @Test func folderAndFileAreReadableByAll() throws {
        try file.replace(with: ["One.", "Zwei \u{2014} 日本."])
        #expect(try String(contentsOfFile: file.path, encoding: .utf8) == "One.\nZwei \u{2014} 日本.\n")
        #expect(try mode(file.path) == 0o644)
        #expect(try mode(file.folder) == 0o755)
        #expect(try names(file.folder) == ["prompt-facts"])
        try file.replace(with: [])
        #expect(try Data(contentsOf: URL(fileURLWithPath: file.path)).isEmpty)
    }

    @Test func whoHasItOpenReadsTheOldOneToItsEnd() throws {
        try file.replace(with: ["old"])
        let reader = try #require(FileHandle(forReadingAtPath: file.path))
        try file.replace(with: ["new"])
        #expect(try reader.readToEnd() == Data("old\n".utf8))
        #expect(try String(contentsOfFile: file.path, encoding: .utf8) == "new\n")
    }

    @Test func aFolderThatIsThereKeepsItsMode() throws {
        try FileManager.default.createDirectory(
            atPath: file.folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o711]
        )
        try file.replace(with: [])
        #expect(try mode(file.folder) == 0o711)
    }

    @Test func linksAreReplacedAndNotFollowed() throws {
        let precious = try scratch.write("precious", to: "target")
        try FileManager.default.createDirectory(atPath: file.folder, withIntermediateDirectories: false)
        for link in [file.path, file.folder + "/.prompt-facts.\(getpid())"] {
            try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: precious)
        }
        try file.replace(with: ["One."])
        #expect(try String(contentsOfFile: precious, encoding: .utf8) == "precious")
        #expect(try String(contentsOfFile: file.path, encoding: .utf8) == "One.\n")
        #expect(try names(file.folder) == ["prompt-facts"])
    }

    @Test func aFolderThatWentIsMadeAnew() throws {
        try file.replace(with: [])
        try FileManager.default.removeItem(atPath: file.folder)
        try file.replace(with: ["One."])
        #expect(try mode(file.folder) == 0o755)
    }

    @Test func whatStandsInTheWayIsSaid() throws {
        func error(_ folder: String) -> PromptFileError? {
            #expect(throws: PromptFileError.self) { try PromptFile(folder: folder).replace(with: ["One."]) }
        }
        let plain = try scratch.write("", to: "plain")
        #expect(error(plain)?.code == ENOTDIR)
        #expect(error(scratch("none/run"))?.code == ENOENT)
        #expect(error("/proc/norrisd") != nil)
        try FileManager.default.createDirectory(atPath: file.path, withIntermediateDirectories: true)
        let occupied = try #require(error(file.folder))
        #expect(
            occupied.description == "\(file.path): cannot be written (Is a directory); "
                + "check the folder's owner and permissions, and the disk's space, or give another --runtime-dir"
        )
        #expect(try names(file.folder) == ["prompt-facts"], "What was begun is gone")
    }
}
