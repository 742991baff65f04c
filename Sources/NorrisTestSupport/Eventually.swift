/// Waits for something that another task is about to do, until the test is cancelled, as by its time limit.
package func eventually(_ condition: () -> Bool) async {
    while !condition() && !Task.isCancelled { await Task.yield() }
}
