/// What the configuration says of a source.
package struct SourcePolicy: Equatable, Sendable {
    package var isEnabled: Bool
    /// One second or more.
    package var refresh: Duration
    /// Stands for whatever the content depends on, such as addresses and queries: content fetched with others is no
    /// content of this source.
    package var settings: String

    package init(isEnabled: Bool, refresh: Duration, settings: String) {
        self.isEnabled = isEnabled
        self.refresh = refresh
        self.settings = settings
    }

    /// The age from which content counts as stale.
    package var staleAfter: Duration { refresh * 1.5 }
}
