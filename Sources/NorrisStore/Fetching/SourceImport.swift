/// The import of one run of a source into `cache.db`, in as many transactions as needed.
///
/// An import belongs to one generation of the source's content. A generation ends when the content is cleared, the
/// file is replaced, or the source is removed or gets another address. Each transaction of an import of an earlier
/// generation throws `contentGone`, also when damage makes it run again on a new file.
package struct SourceImport: Sendable {
    package let source: String
    private let databases: Databases
    private let generation: Int

    init(of source: String, _ databases: Databases) {
        (self.source, self.databases, generation) = (source, databases, databases.generation(of: source))
    }

    func write<Value: Sendable>(
        _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws(StoreError) -> Value {
        try await databases.write(databases.cache) { [self] database in
            guard databases.generation(of: source) == generation else { throw Databases.contentGone }
            return try body(database)
        }
    }

    /// Replaces the record of the source.
    package func store(_ record: FetchRecord) async throws(StoreError) {
        try await write { try record.write(for: source, $0) }
    }

    /// Replaces the record after a reply without changes. A failed write is recorded, and no reason to fetch again.
    package func confirm(_ record: FetchRecord) async throws(StoreError) {
        do throws(StoreError) { try await store(record) } catch { if error.reason == .contentGone { throw error } }
    }
}
