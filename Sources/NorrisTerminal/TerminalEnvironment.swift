package import NorrisProtocol

/// Whether the locale's characters are UTF-8: the first variable of `LC_ALL`, `LC_CTYPE`, `LANG` that is not empty
/// names it. Without any, as in many containers, it is taken to be.
///
/// `C.UTF-8` is; `C`, `POSIX`, and a name without a character set, such as `de_DE`, are not (locale(7)).
package func isUTF8Locale(_ environment: Environment) -> Bool {
    let name = environment.value(of: "LC_ALL") ?? environment.value(of: "LC_CTYPE") ?? environment.value(of: "LANG")
    guard let name = name?.prefix(while: { $0 != "@" }) else { return true }
    guard let dot = name.utf8.firstIndex(of: UInt8(ascii: ".")) else { return false }
    let characters = name[dot...].lowercased()
    return characters == ".utf-8" || characters == ".utf8"
}

/// Whether the terminal knows no escape sequences, or nobody says what it is.
package func isDumbTerminal(_ environment: Environment) -> Bool {
    ["dumb", nil].contains(environment.value(of: "TERM"))
}
