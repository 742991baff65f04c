import NorrisTerminal

/// What the user chose for all commands alike, as typed: nothing of the system has been looked at.
struct Settings: Equatable, Sendable {
    var json = false
    var plain = false
    var width: Int?
    var color = ColorChoice.auto
    var socket: String?
    var timeout = Timeout.standard
}
