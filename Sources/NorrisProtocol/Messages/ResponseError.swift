/// The error object of a JSON-RPC 2.0 response: `{"code":…,"message":…,"data":{"reason":…,"hint":…}}`.
package struct ResponseError: Error, Equatable, Sendable {
    package var code: ErrorCode
    /// One sentence for a person.
    package var message: String
    /// A stable word for programs, in `snake_case`.
    package var reason: String
    /// What to do about it, where there is something to do.
    package var hint: String?
    /// Further members of `data`, such as `parameter`; never `reason` or `hint`.
    package var details: JSONObject

    package init(
        _ code: ErrorCode,
        reason: String,
        message: String,
        hint: String? = nil,
        details: JSONObject = JSONObject()
    ) {
        self.code = code
        self.message = message
        self.reason = reason
        self.hint = hint
        self.details = details
    }
}

extension ResponseError: JSONEncodable, JSONDecodable {
    package func encode(to json: inout JSONWriter) {
        json.beginObject()
        json.key("code")
        json.integer(code.rawValue)
        json.key("message")
        json.string(message)
        json.key("data")
        json.beginObject()
        json.key("reason")
        json.string(reason)
        json.member("hint", hint)
        for (key, value) in details.members {
            json.key(key)
            json.value(value)
        }
        json.endObject()
        json.endObject()
    }

    package init(json: JSON) throws(JSONDecodingError) {
        let object = try json.objectValue()
        code = ErrorCode(rawValue: try object.required("code"))
        message = try object.required("message")
        // Another server may send no data at all, or data of another shape: the code and message still stand.
        (reason, hint, details) = ("", nil, JSONObject())
        guard case .object(let data)? = object["data"] else { return }
        if case .string(let word)? = data["reason"] { reason = word }
        if case .string(let text)? = data["hint"] { hint = text }
        details = JSONObject(uniqueMembers: data.members.filter { $0.key != "reason" && $0.key != "hint" })
    }
}
