import Glibc

/// Keeps the signals that would end norrisctl back while the body runs, so that it can leave nothing behind.
///
/// - Parameter body: gets those signals, and the mask there was before, for programs that are started.
func holdingSignalsBack<Result, Failure: Error>(
    _ body: (_ signals: [Int32], _ before: sigset_t) throws(Failure) -> Result
) throws(Failure) -> Result {
    // One that is ignored, as below nohup(1), ends nothing; kept back it would be pending all the same.
    let signals = [SIGHUP, SIGINT, SIGQUIT, SIGTERM].filter { !isIgnored($0) }
    var mask = sigset_t()
    sigemptyset(&mask)
    signals.forEach { sigaddset(&mask, $0) }
    var before = sigset_t()
    pthread_sigmask(SIG_BLOCK, &mask, &before)
    defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
    return try body(signals, before)
}

private func isIgnored(_ signal: Int32) -> Bool {
    var action = sigaction()
    sigaction(signal, nil, &action)
    // Both are addresses of functions, which Swift does not compare.
    return unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)
}
