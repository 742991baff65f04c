extension Session {
    /// The same with other settings. The time begins anew, so this is for the beginning of a command.
    func with(_ change: (inout Settings) -> Void) -> Session {
        var settings = settings
        change(&settings)
        return Session(settings: settings, system: system)
    }

    /// With the time that many calls take, unless the user has said how long to wait.
    var forManyCalls: Session { settings.hasTimeout ? self : with { $0.timeout = .long } }
}
