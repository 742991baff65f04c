package import NorrisProtocol

/// What is known of a source's last successful fetch; lives and dies with the content that it brought.
package struct FetchRecord: Sendable, Equatable {
    /// The settings that the content was fetched with, as the caller writes them.
    package var settings: String
    /// When the upstream last answered, be it that nothing has changed.
    package var fetchedAt: Timestamp
    /// What each request of the fetch was answered, by a name of the caller's choice.
    package var parts: [String: PartRecord]
    /// The categories that the upstream told of.
    package var categories: [String]

    package init(
        settings: String, fetchedAt: Timestamp, parts: [String: PartRecord] = [:], categories: [String] = []
    ) {
        self.settings = settings
        self.fetchedAt = fetchedAt
        self.parts = parts
        self.categories = categories
    }
}

/// The validators of one reply (RFC 9110, section 8.8), byte for byte as they came.
package struct PartRecord: Sendable, Equatable {
    package var etag: String?
    package var lastModified: String?
    /// When the upstream last sent or confirmed them.
    package var checkedAt: Timestamp

    package init(etag: String? = nil, lastModified: String? = nil, checkedAt: Timestamp) {
        self.etag = etag
        self.lastModified = lastModified
        self.checkedAt = checkedAt
    }
}
