package import NorrisProtocol

extension Favorites {
    /// Keeps what was kept elsewhere, all of it or nothing; what is kept already stays as it is.
    ///
    /// - Parameter items: newest first, as they are listed; not to be trusted.
    /// - Throws: `-32602` that names the item, `-32004` past a limit, `-32005` where the disk takes no writes.
    package func `import`(
        _ items: [Favorite], uid: UInt32, at now: Timestamp = .now()
    ) async throws(ResponseError) -> FavoriteImport.Result {
        guard items.count <= FavoriteImport.maximumItems else {
            throw .invalidParams(
                "There are \(items.count) items, more than \(FavoriteImport.maximumItems).", parameter: "items",
                hint: "Import them in several requests."
            )
        }
        var checked: [Favorite] = []
        for (index, item) in items.enumerated() {
            do throws(FavoriteFault) {
                checked.append(try item.checked(at: now))
            } catch {
                throw .invalidParams("Item \(index + 1) \(error.description).", parameter: "items")
            }
        }
        return try await databases.changeState(logger) { [checked] database in
            var result = FavoriteImport.Result(added: 0, known: 0)
            // Oldest first, so that those of one second get their numbers in the order they had.
            for item in checked.reversed() {
                if try FavoriteRecord.isKept(item.kind, item.id, uid: uid, database) {
                    result.known += 1
                    continue
                }
                try Favorites.insert(item, uid: uid, database)
                result.added += 1
            }
            return result
        }
    }
}
