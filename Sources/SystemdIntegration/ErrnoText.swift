import Glibc

/// The system's words for an error number, such as "Permission denied".
func errnoText(_ code: CInt) -> String {
    String(cString: strerror(code))
}
