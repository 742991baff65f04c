/// The ids by which journal entries are found whatever their text: `MESSAGE_ID` in systemd.journal-fields(7).
///
/// Those events have one that an administrator filters by. An id is random, and never changes or comes back.
package struct MessageID {
    package let event: String
    /// 128 bits as 32 lower-case hexadecimal digits, as sd-id128(3) writes them.
    package let id: String
    /// When the event happens, in a sentence.
    package let meaning: String

    /// By what they are about, as norrisd(8) lists them.
    package static let all = [
        MessageID(
            event: "server.ready", id: "1a06a69359764247aa09e02fc4aef658",
            meaning: "norrisd serves."
        ),
        MessageID(
            event: "server.stopped", id: "fe61f936c88949bc943479fafa0eda8a",
            meaning: "norrisd stopped as it was told to."
        ),
        MessageID(
            event: "server.failed", id: "2b3d01c2a8f148dea14f0d63a66e7603",
            meaning: "norrisd could not start, or had to end; the entry says why and what to do."
        ),
        MessageID(
            event: "configuration.reloaded", id: "5963b9262d6747a3995093fd676521f1",
            meaning: "A reload was applied."
        ),
        MessageID(
            event: "configuration.refused", id: "9af9a5b3a2a84c2a90e532209d5f1478",
            meaning: "A reload found faults and changed nothing."
        ),
        MessageID(
            event: "configuration.warning", id: "a2174014ebde47b6859324aac02288bc",
            meaning: "Something in the configuration is probably not what was meant."
        ),
        MessageID(
            event: "connection.refused", id: "f10c247943a1407aaf7bf0977a515b7a",
            meaning: "A connection was past the limits."
        ),
        MessageID(
            event: "source.failed", id: "1f63d34e44d74535ae25f8913b87b498",
            meaning: "A source began to fail, or fails in another way."
        ),
        MessageID(
            event: "source.recovered", id: "6001057d854c4072bf7b982f6e2fd361",
            meaning: "A source that failed was fetched again."
        ),
        MessageID(
            event: "source.impeded", id: "ab9cfa6ed47c43018faf3637b8074897",
            meaning: "A source cannot be fetched before somebody acts, such as GIFs without a key."
        ),
        MessageID(
            event: "database.quarantined", id: "119d753c25b64b3795d2e319d890a171",
            meaning: "A damaged database was renamed and recreated."
        ),
        MessageID(
            event: "database.unwritable", id: "07400313be894ef482b63c943b59e9e9",
            meaning: "A database cannot be written, and is served as it is or kept in memory."
        ),
        MessageID(
            event: "database.write-failed", id: "8a6eb84b49e24f0a9d5f0fe333ce2630",
            meaning: "Something could not be written, on a full disk for example."
        ),
        MessageID(
            event: "database.writes-again", id: "7a904f877b8f4cfbb68f34033d728049",
            meaning: "What could not be written is written again."
        ),
        MessageID(
            event: "cache.recreated", id: "c470d098458348c0aa8d978b9fe19d1b",
            meaning: "cache.db was deleted under the daemon and recreated."
        ),
        MessageID(
            event: "cache.not-recreated", id: "ae941b19a3ed41dc94527c8e09ad9607",
            meaning: "cache.db was deleted under the daemon and could not be recreated."
        ),
        MessageID(
            event: "state.deleted", id: "9ffe360ebfcf4023a8d2906f16f8701b",
            meaning: "state.db was deleted under the daemon, which has to be restarted."
        ),
        MessageID(
            event: "state.unwritable", id: "b3a1492254084cf8a58c8ea0d1e4ba6d",
            meaning: "The state folder cannot be written, so nothing users keep will last."
        ),
    ]

    private static let byEvent = Dictionary(uniqueKeysWithValues: all.map { ($0.event, $0.id) })

    /// nil for an event that has none.
    static func id(of event: String) -> String? { byEvent[event] }
}
