package import NorrisProtocol

extension Screen {
    /// Names and counts: aligned for a terminal, else with a tab between them.
    package mutating func categories(_ categories: [FactCategories.Category]) {
        guard let width = layout.width else {
            for category in categories {
                fields([Span(category.name), Span("\(category.count)", .dim)])
            }
            return
        }
        let rows = categories.map { (name: Span($0.name), count: Span(groupedDigits($0.count), .dim)) }
        let countColumns = rows.map(\.count.width).max() ?? 0
        // A name that leaves no room for a count has a line of its own, and the others are no wider for it.
        let nameColumns = rows.map(\.name.width).filter { $0 + 2 + countColumns <= width }.max() ?? 0
        for (name, count) in rows {
            let fits = name.width <= nameColumns
            if !fits {
                line([name])
            }
            let label = fits ? name : Span("")
            let gap = nameColumns + 2 + countColumns - label.width - count.width
            line([label, Span(String(repeating: " ", count: gap)), count])
        }
    }
}
