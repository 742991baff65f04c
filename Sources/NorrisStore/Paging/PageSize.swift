/// In bytes: what the contents on one page may come to. The server refuses to send a reply of more than twice that.
let maximumPageBytes = 2 << 20

extension Array {
    /// The items of a page: the first ones, as many as are wanted and no more than a reply can hold, but one at least.
    ///
    /// - Parameter size: of an item's content, in bytes.
    func page(limit: Int, size: (Element) -> Int) -> ArraySlice<Element> {
        var bytes = 0
        let fitting = prefix(limit).prefix { item in
            bytes += size(item)
            return bytes <= maximumPageBytes
        }
        return fitting.isEmpty ? prefix(Swift.min(limit, 1)) : fitting
    }
}
