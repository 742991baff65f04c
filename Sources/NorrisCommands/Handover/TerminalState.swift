import Glibc

/// The state of the terminal at standard output before a program gets it.
struct TerminalState {
    /// What is written to it to bring it back.
    private let reset: [UInt8]
    /// nil if it cannot be asked.
    private let attributes: termios?

    init(reset: [UInt8]) {
        self.reset = reset
        var attributes = termios()
        self.attributes = tcgetattr(STDOUT_FILENO, &attributes) == 0 ? attributes : nil
    }

    /// Brings it back after a program that may have left it as it was not.
    func restore() {
        // In the background it is another's, and changing it would stop norrisctl (SIGTTOU).
        if var attributes, tcgetpgrp(STDOUT_FILENO) == getpgrp() {
            tcsetattr(STDOUT_FILENO, TCSANOW, &attributes)
        }
        write(STDOUT_FILENO, reset, reset.count)
    }
}
