import Glibc

/// Why `norris-card` does not do what it was asked for.
enum CardFailure: Error, Equatable {
    /// The sentence says what is wrong with the command line.
    case usage(String)
    case noCard(CardError)
    /// Standard input cannot be read.
    case input(errno: Int32)
    /// Standard output cannot be written.
    case output(errno: Int32)

    /// The exit status, one of sysexits.h.
    var status: Int32 {
        switch self {
        case .usage: 64
        case .noCard(.noFont): 69
        case .noCard(.failed): 70
        case .noCard: 65
        // A reader that has seen enough is no fault of anybody.
        case .output(EPIPE): 0
        case .input, .output: 74
        }
    }

    /// One sentence; nil where there is nothing to say.
    var message: String? {
        switch self {
        case .usage(let sentence): sentence
        case .noCard(let error): error.message
        case .input(let errno): "Standard input cannot be read: \(String(cString: strerror(errno)))."
        case .output(EPIPE): nil
        case .output(let errno): "Standard output cannot be written: \(String(cString: strerror(errno)))."
        }
    }
}
