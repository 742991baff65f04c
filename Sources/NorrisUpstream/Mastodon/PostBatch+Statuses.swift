import NorrisProtocol

extension PostBatch {
    /// Reads an array of statuses, complete and valid as a whole.
    ///
    /// - Parameter host: of the server: its own people are known without it there, and everywhere else with it.
    init(statuses body: [UInt8], source: String, host: String, _ budget: DecodingBudget) throws(UnusableBody) {
        var builder = PostBatchBuilder(source: source, budget)
        try JSONItems.forEach(in: body, under: nil, budget) { item throws(UnusableBody) in
            guard item.count <= JSONItems.maximumItem, case .object(let status)? = try? JSON.parse(item),
                let post = Post(status: status, host: host, budget)
            else { return try builder.skip() }
            try builder.add(post)
        }
        self = try builder.batch()
    }
}
