import Glibc

/// What a symbolic link says, which may be a path from its own folder (readlink(2)).
///
/// A target that is no UTF-8 counts as an error (EILSEQ): as a text it would be another.
func targetOfLink(_ path: String) throws(ReadError) -> String {
    var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
    let count = readlink(path, &buffer, buffer.count)
    guard count >= 0 else { throw ReadError(errno: errno) }
    guard let target = String(validating: buffer[..<count], as: UTF8.self) else { throw ReadError(errno: EILSEQ) }
    return target
}
