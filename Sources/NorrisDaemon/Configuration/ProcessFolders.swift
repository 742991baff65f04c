import Glibc

/// What `Paths` and `ConfigurationLoader` want to know of the running process.
package enum ProcessFolders {
    /// The home directory of the process's user in the password database; nil if there is none.
    package static var accountHome: String? {
        var record = passwd()
        var found: UnsafeMutablePointer<passwd>?
        // Far beyond what any entry needs; a longer one counts as none.
        var buffer = [CChar](repeating: 0, count: 64 << 10)
        guard getpwuid_r(geteuid(), &record, &buffer, buffer.count, &found) == 0, found != nil,
            let home = record.pw_dir
        else { return nil }
        let path = String(cString: home)
        return path.hasPrefix("/") ? path : nil
    }

    /// The working directory; `/` if it has been removed.
    package static var current: String {
        guard let path = getcwd(nil, 0) else { return "/" }
        defer { free(path) }
        return String(cString: path)
    }
}
