package import NorrisProtocol

extension Screen {
    /// Names and counts: aligned for a terminal, else with a tab between them.
    package mutating func categories(_ categories: [FactCategories.Category]) {
        guard layout.width != nil else {
            for category in categories {
                fields([Span(category.name), Span("\(category.count)", .dim)])
            }
            return
        }
        var table = Table(columns: [.left(""), .right("")])
        for category in categories {
            table.rows.append([Span(category.name), Span("\(category.count)", .dim)])
        }
        for row in table.body {
            line(row)
        }
    }
}
