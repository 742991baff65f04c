import NorrisProtocol
import NorrisTerminal

extension Failure {
    /// Says how to get at GIFs where there are none: a key for Giphy and where it goes, or what is wrong and
    /// when it is tried again. Where the daemon knows of no failure its own hint stays.
    func withGifHint(now: Timestamp) -> Failure {
        guard let response, response.code == .nothingCached else { return self }
        var failure = self
        if response.lacksCredentials {
            failure.message += response.lastError?.sentence(after: failure.message) ?? ""
            failure.hint = "Get an API key of your own at https://developers.giphy.com, and give it to norrisd."
            failure.steps = [
                "To the system's: /etc/credstore/giphy-api-key, mode 0600, then: systemctl restart norrisd",
                "To one of your own: gifs.api_key_file in ~/.config/norrisd/config.yaml, then: norrisctl reload",
            ]
        } else if let error = response.lastError {
            failure.hint = "gifs: \(error.outlook(now: now))"
        }
        return failure
    }
}

extension ResponseError {
    /// Why the source could not be asked, where the daemon tells.
    fileprivate var lastError: SourceFailure? {
        details["last_error"].flatMap { try? SourceFailure(json: $0) }
    }
}

extension SourceFailure {
    /// Its own words as a further sentence; empty where a message says them already, or there are none.
    fileprivate func sentence(after text: String) -> String {
        let sentence = message.last == "." ? message : message + "."
        return message.isEmpty || sentence.hasSameBytes(as: text) ? "" : " " + sentence
    }
}
