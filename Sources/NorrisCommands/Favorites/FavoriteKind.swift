import ArgumentParser
import NorrisProtocol

/// Reads a kind of what can be kept, in the singular or the plural, and gives the singular.
///
/// It stays a text: each further type of option costs every start the making of its metadata.
@Sendable
func favoriteKind(_ text: String) throws -> String {
    guard let kind = Favorite.Kind.all.map(\.rawValue).first(where: { text == $0 || text == $0 + "s" }) else {
        throw ValidationError("it takes fact, gif or post.")
    }
    return kind
}
