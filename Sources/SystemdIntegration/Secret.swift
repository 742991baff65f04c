/// A value that must not be seen: printing, interpolating, dumping or reflecting it shows a mask.
///
/// Only code that says ``value`` gets the text.
package struct Secret: Sendable, Equatable {
    /// The text itself, for handing to whom it is meant.
    package let value: String

    package init(_ value: String) {
        self.value = value
    }
}

extension Secret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    package var description: String { "<secret>" }

    package var debugDescription: String { description }

    package var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}
