import NorrisArguments
import NorrisProtocol
import NorrisTerminal
import NorrisText

/// An item on the command line: an id, or the number of the item in the last list on a terminal.
enum ItemName: Equatable {
    case id(String)
    case number(Int)

    /// Reads an argument. One to three digits are a number, because a list has at most 100 numbers.
    init(argument: String) {
        let isNumber = 1...3 ~= argument.utf8.count && argument.utf8.allSatisfy { 0x30...0x39 ~= $0 }
        self = isNumber ? Int(argument).map(ItemName.number) ?? .id(argument) : .id(argument)
    }
}

/// The items on a command line: the arguments, and the ids behind `--id`.
struct ItemNames {
    private var arguments: [ItemName] = [], ids: [ItemName] = []

    var all: [ItemName] { arguments + ids }

    mutating func add(_ argument: String) { arguments.append(ItemName(argument: argument)) }

    /// Declares the arguments, and `--id` for an id that is a number.
    mutating func declare(
        _ declarations: inout CommandArguments, _ kind: ValueKind, _ summary: String, isRepeating: Bool = false
    ) {
        declarations.positional(kind, summary, isOptional: true, isRepeating: isRepeating) { word in
            add(word)
            return true
        }
        let summary = "The id; needed only for an id that is a number."
        declarations.option("id", kind, summary, isRepeating: isRepeating) { id in
            ids.append(.id(id))
            return true
        }
    }
}

extension Session {
    /// Whether a list has numbers, to which later commands refer. Only a terminal shows numbers.
    var isNumbered: Bool { layout.width != nil && !settings.json }

    /// Returns the title of a fact, a post or a favorite GIF in one line; nil if it is not available.
    func title(of item: ItemParameters) -> String? {
        var title: String?
        switch item.kind {
        case .fact: title = (try? call(FactGet.self, FactGet.Parameters(id: item.id)))?.value.fact.text
        case .post:
            let post = (try? call(PostGet.self, IDParameters(id: item.id)))?.value.post
            title = post?.title ?? post?.text
        default:
            // The daemon would ask Giphy for another GIF than the newest favorite.
            let newest = FavoriteList.Parameters(kind: item.kind, page: PageRequest(limit: 1))
            let items = (try? call(FavoriteList.self, newest))?.value.items ?? []
            title = items.first { $0.id.hasSameBytes(as: item.id) }?.title
        }
        return title.map { sanitizedLine($0) }.flatMap { $0.isEmpty ? nil : $0 }
    }

    /// Returns the kind and the id of an item. The daemon stores the last numbered lists of each user.
    ///
    /// - Parameter kind: `RecentServed.anyKind` for a number in the last list of any kind.
    func item(_ name: ItemName, of kind: Favorite.Kind, notFound hint: Advice? = nil) throws(Failure) -> ItemParameters
    {
        switch name {
        case .id(let id): return ItemParameters(kind: kind, id: id)
        case .number(let number):
            guard 1...RecentServed.maximumIndex ~= number else {
                throw Failure(
                    .nothing,
                    "Lists have the numbers 1 to \(RecentServed.maximumIndex), so there is no number \(number).",
                    hint: "An id that is a number needs an option: --id \(value: number)")
            }
            let parameters = RecentServed.Parameters(kind: kind, index: number)
            let item = try call(RecentServed.self, parameters, notFound: hint).value
            return ItemParameters(kind: item.kind ?? kind, id: item.id)
        }
    }
}
