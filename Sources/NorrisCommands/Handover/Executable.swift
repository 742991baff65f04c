import Glibc

/// The file of a program in the first folder of a `PATH` that has it; nil if there is none.
///
/// Folders that are not absolute are passed over: what they mean depends on where norrisctl was started.
func executable(named program: String, in path: String) -> String? {
    for folder in path.split(separator: ":") where folder.utf8.first == UInt8(ascii: "/") {
        let file = "\(folder)/\(program)"
        var status = stat()
        if stat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG, access(file, X_OK) == 0 {
            return file
        }
    }
    return nil
}
