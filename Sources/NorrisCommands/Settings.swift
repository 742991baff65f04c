import NorrisTerminal

/// What the user chose for all commands alike, as typed: nothing of the system has been looked at.
struct Settings: Equatable, Sendable {
    var json = false
    var plain = false
    var width: Int?
    var color = ColorChoice.auto
    var socket: String?
    var timeout = Timeout.standard
    /// Whether the user has said the time, which then is for other programs too.
    var hasTimeout = false
}
