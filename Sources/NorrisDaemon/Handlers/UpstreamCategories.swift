/// The categories of api.chucknorris.io: known names, whether or not a fact of theirs is stored.
enum UpstreamCategories {
    static let all: Set<String> = [
        "animal", "career", "celebrity", "dev", "explicit", "fashion", "food", "history",
        "money", "movie", "music", "political", "religion", "science", "sport", "travel",
    ]
}
