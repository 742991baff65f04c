/// A conifer on the near bank, whose branches can be seen. In pixels.
struct NearTree {
    /// The column of the trunk, the row of the top, and the row of the root.
    let trunk: Float
    let top: Float
    let root: Float

    /// Of the lowest branches to each side.
    let reach: Float

    /// Branches above each other.
    let tiers: Float
    let noise: Noise

    /// Paints a row of it.
    func paint(row: Int, color: LinearColor, into line: UnsafeMutableBufferPointer<LinearColor>) {
        guard Float(row) + 1 > top, Float(row) < root else { return }
        // Branches end in between rows, so each row is three.
        let spans = (
            span(at: Float(row) + 0.17), span(at: Float(row) + 0.5), span(at: Float(row) + 0.83)
        )
        let left = min(spans.0.x, spans.1.x, spans.2.x)
        let right = max(spans.0.y, spans.1.y, spans.2.y)
        let first = max(Int(left - 1), 0)
        let last = min(Int(right + 1), line.count - 1)
        for column in first..<max(last + 1, first) {
            let start = Float(column)
            let cover = cover(spans.0, start) + cover(spans.1, start) + cover(spans.2, start)
            line[column] = line[column].mixed(color, cover / 3)
        }
    }

    /// From where to where it goes at a height.
    private func span(at y: Float) -> SIMD2<Float> {
        let part = (y - top) / (root - top)
        guard part > 0 else { return SIMD2(trunk, trunk) }
        return SIMD2(trunk - branch(part, 0), trunk + branch(part, 40))
    }

    private func cover(_ span: SIMD2<Float>, _ start: Float) -> Float {
        max(min(span.y, start + 1) - max(span.x, start), 0)
    }

    /// How far a branch goes aside: each begins at the trunk and hangs to where the next one begins.
    private func branch(_ part: Float, _ side: Float) -> Float {
        // Upper branches are closer to each other.
        let place = part.squareRoot() * tiers + side * 0.37
        let tier = place.rounded(.down)
        let hanging = place - tier
        let length = 0.82 + 0.30 * noise.value(tier + side)
        let ragged = 1 + 0.25 * noise.value(part * tiers * 7 + side)
        return reach * (0.03 + part * length * (0.35 + 0.65 * hanging) * ragged)
    }
}
