import Glibc

/// Takes the places of standard input, output and error where the caller has closed them.
///
/// Else the next descriptor that is opened, such as the socket, would get what is written there. What stands in their
/// place can be neither read nor written, so that the error is the same as without it.
func occupyStandardDescriptors() {
    for (descriptor, flags) in [(STDIN_FILENO, O_WRONLY), (STDOUT_FILENO, O_RDONLY), (STDERR_FILENO, O_RDONLY)]
    where fcntl(descriptor, F_GETFD) < 0 {
        // open(2) takes the lowest number there is, which is this one.
        _ = open("/dev/null", flags)
    }
}
