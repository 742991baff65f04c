import Glibc

/// The file of a program: the one that a path names, or for a name that in the first folder of a `PATH` that has it;
/// nil if there is none.
///
/// Folders that are not absolute are passed over: what they mean depends on where norrisctl was started.
func executable(named program: String, in path: String) -> String? {
    if program.utf8.contains(UInt8(ascii: "/")) {
        return isExecutable(program) ? program : nil
    }
    for folder in path.utf8.split(separator: UInt8(ascii: ":")) where folder.first == UInt8(ascii: "/") {
        let file = "\(Substring(folder))/\(program)"
        if isExecutable(file) {
            return file
        }
    }
    return nil
}

private func isExecutable(_ file: String) -> Bool {
    var status = stat()
    return stat(file, &status) == 0 && status.st_mode & S_IFMT == S_IFREG && access(file, X_OK) == 0
}
