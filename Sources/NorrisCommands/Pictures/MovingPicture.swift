/// Whether a picture may be animated: a WebP with the animation flag, or a GIF of more than one image.
///
/// Source: "WebP Container Specification", Extended File Format.
func mayMove(_ picture: [UInt8]) -> Bool {
    if picture.starts(with: Array("GIF8".utf8)) { return hasSeveralImages(gif: picture) }
    guard picture.count > 20, picture.starts(with: Array("RIFF".utf8)) else { return false }
    return picture[8..<16].elementsEqual("WEBPVP8X".utf8) && picture[20] & 0b10 != 0
}

/// Reads the blocks of a GIF up to the second image. Returns true also for an unknown block.
///
/// Source: GIF89a specification, sections 18 to 27.
private func hasSeveralImages(gif: [UInt8]) -> Bool {
    guard gif.count > 10 else { return false }
    // Header and logical screen descriptor.
    var position = 13 + colorTableSize(flags: gif[10])
    var images = 0
    while position < gif.count {
        switch gif[position] {
        case 0x21:
            // The introducer and the label of an extension.
            position += 2
        case 0x2C:
            images += 1
            guard images == 1 else { return true }
            guard position + 9 < gif.count else { return false }
            // The image descriptor and the LZW minimum code size.
            position += 11 + colorTableSize(flags: gif[position + 9])
        case 0x3B: return false
        default: return true
        }
        // Sub-blocks, each after its size, up to an empty one.
        while position < gif.count, gif[position] > 0 { position += 1 + Int(gif[position]) }
        position += 1
    }
    return false
}

/// The size of a color table in bytes, or 0 if the flags indicate no table.
private func colorTableSize(flags: UInt8) -> Int { flags & 0x80 == 0 ? 0 : 3 << (Int(flags & 0x07) + 1) }
