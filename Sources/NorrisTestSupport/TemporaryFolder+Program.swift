extension TemporaryFolder {
    /// Writes a shell script into the folder, for anybody to run, and gives its path.
    ///
    /// Another process writes the file that will be run: a child that another test starts at the same moment would
    /// inherit a descriptor of ours, and while one is open for writing the kernel runs no such file (ETXTBSY in
    /// execve(2)).
    package func writeProgram(_ script: String, to name: String) throws -> String {
        let result = try run("sh", ["-c", #"cat >"$0" && chmod 755 "$0""#, self(name)], input: "#!/bin/sh\n\(script)\n")
        guard result.status == 0 else { throw ProgramNotWritten(result: result) }
        return self(name)
    }

    private struct ProgramNotWritten: Error {
        let result: ProgramResult
    }
}
