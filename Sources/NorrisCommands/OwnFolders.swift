/// Where programs are that belong to norrisctl and to nobody else: beside its own file, as after a build, or where the
/// packages put them. None where the system does not tell (proc(5)).
func ownFolders() -> [String] {
    guard let file = try? targetOfLink("/proc/self/exe"), file.utf8.first == UInt8(ascii: "/") else { return [] }
    let folder = String(Substring(folder(of: file).utf8.dropLast()))
    return [folder, "\(folder)/../libexec/norrisd"]
}
