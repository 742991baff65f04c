/// A part of a picture, in pixels from its upper left corner.
struct Rectangle: Equatable {
    var x: Int
    var y: Int
    var width: Int
    var height: Int
}
