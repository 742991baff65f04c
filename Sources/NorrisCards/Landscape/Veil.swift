/// A scrim made ready for a picture.
struct Veil {
    private let scrim: Scrim
    /// Where it is at all.
    private let columns: Range<Int>
    /// How strong it is in each of the columns.
    private let strengths: [Float]
    private let spared: Halo?

    /// - Parameter spared: what it leaves alone: sun or moon, which stand beside the letters.
    init(scrim: Scrim, width: Int, sparing spared: Halo?) {
        self.scrim = scrim
        self.spared = spared
        let end = scrim.area.x + scrim.area.width + scrim.fade
        columns = (0..<width).clamped(to: scrim.area.x - scrim.fade..<end)
        strengths = columns.map { scrim.strength(column: $0) }
    }

    func dim(row: Int, of line: UnsafeMutableBufferPointer<LinearColor>) {
        let strength = scrim.strength(row: row)
        guard strength > 0 else { return }
        let halo = spared.flatMap { $0.rows.contains(row) ? $0 : nil }
        for (column, strengthHere) in zip(columns, strengths) {
            var loss = strength * strengthHere * (1 - scrim.kept(ofLuminance: line[column].luminance))
            if let halo { loss *= 1 - halo.share(column: column, row: row) }
            line[column] *= 1 - loss
        }
    }
}
