/// One source in the result of `server.status`.
package struct SourceStatus: Equatable, Sendable {
    /// `facts`, `gifs`, or a key under `posts.sources`.
    package var name: String
    /// Which upstream it speaks to, such as `chucknorris`.
    package var kind: String
    package var isEnabled: Bool
    package var items: Int
    package var freshness: Freshness
    package var nextRunAt: Timestamp?
    package var consecutiveFailures: Int
    package var quota: Quota?

    /// A budget of requests and what is used of it.
    package struct Quota: Equatable, Sendable {
        package var limit: Int
        package var used: Int
        package var resetsAt: Timestamp

        package init(limit: Int, used: Int, resetsAt: Timestamp) {
            self.limit = limit
            self.used = used
            self.resetsAt = resetsAt
        }
    }

    package init(
        name: String,
        kind: String,
        isEnabled: Bool,
        items: Int,
        freshness: Freshness,
        nextRunAt: Timestamp? = nil,
        consecutiveFailures: Int = 0,
        quota: Quota? = nil
    ) {
        self.name = name
        self.kind = kind
        self.isEnabled = isEnabled
        self.items = items
        self.freshness = freshness
        self.nextRunAt = nextRunAt
        self.consecutiveFailures = consecutiveFailures
        self.quota = quota
    }
}

extension SourceStatus: JSONEncodable, JSONDecodable {
    package func encode(to json: inout JSONWriter) {
        json.beginObject()
        json.member("name", name)
        json.member("kind", kind)
        json.member("enabled", isEnabled)
        json.member("items", items)
        json.member("freshness", freshness)
        json.member("next_run_at", nextRunAt)
        json.member("consecutive_failures", consecutiveFailures)
        json.member("quota", quota)
        json.endObject()
    }

    package init(json: JSON) throws(JSONDecodingError) {
        let object = try json.objectValue()
        name = try object.required("name")
        kind = try object.required("kind")
        isEnabled = try object.required("enabled")
        items = try object.required("items")
        freshness = try object.required("freshness")
        nextRunAt = try object.optional("next_run_at")
        consecutiveFailures = try object.required("consecutive_failures")
        quota = try object.optional("quota")
    }
}

extension SourceStatus.Quota: JSONEncodable, JSONDecodable {
    package func encode(to json: inout JSONWriter) {
        json.beginObject()
        json.member("limit", limit)
        json.member("used", used)
        json.member("resets_at", resetsAt)
        json.endObject()
    }

    package init(json: JSON) throws(JSONDecodingError) {
        let object = try json.objectValue()
        limit = try object.required("limit")
        used = try object.required("used")
        resetsAt = try object.required("resets_at")
    }
}
