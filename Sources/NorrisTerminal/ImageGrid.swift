/// Which image of a post stands where: one over the whole width, two side by side, of three and more the first over
/// the whole width and the others in a row below it.
///
/// A cell is never narrower than `minimumWidth` unless the grid is, so on narrow terminals cells stand below each
/// other. Where not all have room in the row, the last cell says how many more there are.
struct ImageGrid: Equatable {
    static let minimumWidth = 18
    static let gap = 1

    enum Content: Equatable {
        /// By its index.
        case image(Int)
        /// So many that are not shown.
        case more(Int)
    }

    struct Cell: Equatable {
        let content: Content
        let width: Int
    }

    let rows: [[Cell]]

    /// - Parameter showsAll: whether there may be as many rows as it takes to leave none out.
    init(count: Int, width: Int, showsAll: Bool) {
        let images = (0..<max(count, 0)).map { Content.image($0) }
        let lead = count == 2 ? 0 : 1
        let fitting = max(1, (width + Self.gap) / (Self.minimumWidth + Self.gap))
        var rest = Array(images.dropFirst(lead))
        let room = max(2, fitting)
        if !showsAll, rest.count > room {
            rest[(room - 1)...] = [.more(rest.count - room + 1)]
        }
        let rows = images.isEmpty ? [] : [Array(images.prefix(lead))] + Self.chunks(of: rest, fitting)
        self.rows = rows.filter { !$0.isEmpty }.map { Self.cells($0, width: width) }
    }

    private static func chunks(of contents: [Content], _ size: Int) -> [[Content]] {
        stride(from: 0, to: contents.count, by: size).map { Array(contents[$0...].prefix(size)) }
    }

    /// Spreads cells over the width; the first ones are a column wider where it cannot be divided evenly.
    private static func cells(_ contents: [Content], width: Int) -> [Cell] {
        let columns = width - gap * (contents.count - 1)
        return contents.enumerated().map { index, content in
            Cell(content: content, width: columns / contents.count + (index < columns % contents.count ? 1 : 0))
        }
    }
}
