/// The exit statuses of norrisctl: 0, 1, and those of sysexits.h that the contract with scripts names.
package enum ExitStatus: Int32, Sendable {
    case done = 0
    /// Nothing matched.
    case nothing = 1
    /// EX_USAGE: the command line or the parameters are wrong.
    case usage = 64
    /// EX_UNAVAILABLE: the daemon cannot be reached, or is too old.
    case unavailable = 69
    /// EX_SOFTWARE: one of the two programs is at fault.
    case internalError = 70
    /// EX_IOERR: something cannot be written or read.
    case inputOutput = 74
    /// EX_TEMPFAIL: later it may work.
    case temporary = 75
    /// EX_NOPERM: not permitted.
    case notPermitted = 77
    /// EX_CONFIG: the daemon's configuration lacks something.
    case configuration = 78
}
