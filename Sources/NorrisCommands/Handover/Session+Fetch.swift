import NorrisTerminal

extension Session {
    /// The largest picture that is fetched, in bytes.
    private static var pictureLimit: Int { 16 << 20 }

    /// Fetches a picture with curl, over https alone.
    ///
    /// norrisctl makes no request of its own: with curl the user's proxy and certificates count.
    func fetchPicture(_ address: String) throws(Failure) -> [UInt8] {
        guard isWebAddress(address), address.prefix(8).lowercased() == "https://" else {
            throw Failure(.nothing, "The picture at \(address) is not fetched: its address is not https.")
        }
        system.waiting.show("fetching the picture")
        defer { system.waiting.hide() }
        let outcome = system.run(
            SubprocessRequest(
                program: "curl",
                arguments: [
                    // First of all, so that no .curlrc changes the rest.
                    "--disable", "--silent", "--fail", "--location", "--max-redirs", "3",
                    "--proto", "=https", "--proto-redir", "=https",
                    // Without it brackets and braces stand for many addresses.
                    "--globoff",
                    "--max-time", "20", "--max-filesize", "\(Self.pictureLimit)", "--url", address,
                ],
                // curl does not know the size of all it fetches, and may hang where it counts no time.
                output: .collected(limit: Self.pictureLimit), timeout: pictureTime(.seconds(25))
            )
        )
        switch outcome {
        case .ended(status: 0, let bytes):
            return bytes
        case .tooLarge, .ended(status: 63, _):
            throw Failure(.nothing, "The picture at \(address) is larger than \(byteSizeText(Self.pictureLimit)).")
        case .ended(let status, _):
            throw Failure(.temporary, "The picture at \(address) cannot be fetched: \(Self.reason(curl: status)).")
        case .missing:
            throw .missing("curl", packages: "chafa curl")
        case let outcome:
            throw unfinished("curl", outcome)
        }
    }

    /// Source: curl(1), "Exit codes".
    private static func reason(curl status: Int32) -> String {
        switch status {
        case 1: "it leads to what is not https"
        case 5, 6: "its host is not found"
        case 7: "its host does not answer"
        case 22: "its host answers with an error"
        case 28: "it takes too long"
        case 35, 51, 53, 54, 58...60, 77, 83, 90, 91: "its host cannot prove to be it"
        case 47: "it leads from one place to the next"
        default: "curl ended with status \(status)"
        }
    }
}
