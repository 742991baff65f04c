/// Numbers that are read for every pixel: an array that never changes and, in release builds, never checks an index.
struct Table<Element: BitwiseCopyable> {
    private final class Storage {
        let elements: UnsafeMutableBufferPointer<Element>

        init(_ elements: [Element]) {
            self.elements = .allocate(capacity: elements.count)
            _ = self.elements.initialize(from: elements)
        }

        deinit { elements.deallocate() }
    }

    /// Keeps the memory for as long as the table lives.
    private let storage: Storage
    private let elements: UnsafeBufferPointer<Element>

    init(_ elements: [Element]) {
        storage = Storage(elements)
        self.elements = UnsafeBufferPointer(storage.elements)
    }

    @inline(__always)
    subscript(index: Int) -> Element { elements[index] }
}
