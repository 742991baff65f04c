/// All methods of the protocol, sorted by name.
///
/// Adding one: CONTRIBUTING.md has the list of what to touch.
package enum MethodTable {
    package static let methods: [MethodDescription] = [
        AuthorList.description,
        CacheClear.description,
        EventSubscribe.description,
        FactCategories.description,
        FactGet.description,
        FactRandom.description,
        FactSearch.description,
        FactToday.description,
        FavoriteAdd.description,
        FavoriteImport.description,
        FavoriteList.description,
        FavoriteRemove.description,
        GifGet.description,
        GifRandom.description,
        GifSearch.description,
        GifTrending.description,
        PostGet.description,
        PostList.description,
        PostMarkRead.description,
        RecentClear.description,
        RecentList.description,
        RecentServed.description,
        Discover.description,
        ServerInfo.description,
        ServerMetrics.description,
        ServerReload.description,
        ServerStatus.description,
        SourceRefresh.description,
    ]

    /// The parts before the dot: what this daemon can do, as `server.info` says it.
    package static let capabilities = Set(
        methods.compactMap { $0.name.split(separator: ".").first.map(String.init) }
    ).sorted()
}
