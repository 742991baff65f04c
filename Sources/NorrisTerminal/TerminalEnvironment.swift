package import NorrisProtocol

/// Whether the locale's characters are UTF-8: the first variable of `LC_ALL`, `LC_CTYPE`, `LANG` that is not empty
/// names it. Without any, as in many containers, it is taken to be.
///
/// `C.UTF-8` is; `C`, `POSIX`, and a name without a character set, such as `de_DE`, are not (locale(7)).
package func isUTF8Locale(_ environment: Environment) -> Bool {
    let names = ["LC_ALL", "LC_CTYPE", "LANG"]
    guard let name = names.lazy.compactMap({ environment.value(of: $0) }).first else { return true }
    let parts = name.prefix { $0 != "@" }.split(separator: ".", maxSplits: 1)
    return parts.count == 2 && ["utf-8", "utf8"].contains(parts[1].lowercased())
}

/// Whether the terminal knows no escape sequences, or nobody says what it is.
package func isDumbTerminal(_ environment: Environment) -> Bool {
    ["dumb", nil].contains(environment.value(of: "TERM"))
}
