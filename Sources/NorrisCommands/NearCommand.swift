/// Whether a word may have been meant to be a command: the command begins with it, or two slips of the finger (a
/// letter too much, too few, wrong or swapped with the next) lie between them, one in words of four letters or fewer.
func isNear(_ word: String, _ command: String) -> Bool {
    let word = Array(word.utf8)
    let command = Array(command.utf8)
    // Longer words are nothing like a command, and would only take time.
    guard word.count <= 2 * command.count else { return false }
    if word.count >= 2, command.starts(with: word) {
        return true
    }
    return slips(from: word, to: command) <= (min(word.count, command.count) > 4 ? 2 : 1)
}

/// The optimal string alignment distance.
private func slips(from word: [UInt8], to command: [UInt8]) -> Int {
    var before: [Int] = []
    var last = Array(0...command.count)
    for row in word.indices {
        var next = [row + 1]
        for column in command.indices {
            let isSame = word[row] == command[column]
            var least = min(last[column + 1] + 1, next[column] + 1, last[column] + (isSame ? 0 : 1))
            if row > 0, column > 0, word[row] == command[column - 1], word[row - 1] == command[column] {
                least = min(least, before[column - 1] + 1)
            }
            next.append(least)
        }
        (before, last) = (last, next)
    }
    return last[command.count]
}
