/// The ids of journal entries, independent of their text: `MESSAGE_ID` in systemd.journal-fields(7).
///
/// Events that administrators filter by have an id. An id is random, never changes and is never reused.
package enum MessageID {
    /// Ids of 128 bits as 32 lower-case hexadecimal digits, as sd-id128(3) writes them, and the meaning of each event;
    /// in the order of norrisd(8).
    package static let all: [(event: String, id: String, meaning: String)] = [
        ("server.ready", "1a06a69359764247aa09e02fc4aef658", "norrisd accepts connections."),
        ("server.stopped", "fe61f936c88949bc943479fafa0eda8a", "norrisd stopped after SIGTERM or SIGINT."),
        (
            "server.failed", "2b3d01c2a8f148dea14f0d63a66e7603",
            "norrisd could not start, or had to end; the entry says why and what to do."
        ), ("configuration.reloaded", "5963b9262d6747a3995093fd676521f1", "A reload was applied."),
        ("configuration.refused", "9af9a5b3a2a84c2a90e532209d5f1478", "A reload found faults and changed nothing."),
        (
            "configuration.warning", "a2174014ebde47b6859324aac02288bc",
            "A valid value in the configuration is probably not what was meant."
        ), ("connection.refused", "f10c247943a1407aaf7bf0977a515b7a", "A connection was refused because of a limit."),
        ("source.failed", "1f63d34e44d74535ae25f8913b87b498", "A source began to fail, or fails for another reason."),
        ("source.recovered", "6001057d854c4072bf7b982f6e2fd361", "A source that failed was fetched successfully."),
        (
            "source.unavailable", "ab9cfa6ed47c43018faf3637b8074897",
            "A source cannot be fetched until an administrator acts, such as GIFs without a key."
        ),
        (
            "database.replaced", "119d753c25b64b3795d2e319d890a171",
            "A damaged database was renamed; an empty cache or the copy of the state took its place."
        ), ("state.not-copied", "82929293fdd64b9a9c40ca41914c83ac", "The copy of state.db could not be made."),
        (
            "database.unwritable", "07400313be894ef482b63c943b59e9e9",
            "A database cannot be written; it is served read-only or held in memory."
        ),
        (
            "database.write-failed", "8a6eb84b49e24f0a9d5f0fe333ce2630",
            "A write to a database failed, for example because the disk is full."
        ), ("database.writes-again", "7a904f877b8f4cfbb68f34033d728049", "Writes to a database succeed again."),
        (
            "state.unwritable", "b3a1492254084cf8a58c8ea0d1e4ba6d",
            "The state folder cannot be written; favorites and other state are lost when norrisd stops."
        ),
    ]

    private static let byEvent = Dictionary(uniqueKeysWithValues: all.map { ($0.event, $0.id) })

    /// The id of an event; nil if the event has no id.
    static func id(of event: String) -> String? { byEvent[event] }
}
