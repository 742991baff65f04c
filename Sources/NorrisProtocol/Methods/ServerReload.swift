/// `server.reload`: reads the configuration again.
package enum ServerReload {
    package static let description = MethodDescription(
        "server.reload",
        summary: "Reads the configuration again; a bad file changes nothing.",
        isAdministrative: true,
        result: .object([])
    )
}
