/// The URL of a path below a base that may end with slashes.
func joinedURL(_ baseURL: String, _ path: String) -> String {
    var baseURL = baseURL
    while baseURL.last == "/" { baseURL.removeLast() }
    return "\(baseURL)/\(path)"
}
