/// The limits of the server. PROTOCOL.md has a table of those that clients meet.
enum Limit {
    // Lines.
    /// The requests in a batch.
    static let batch = 64
    /// The longest reply line, and the most unsent replies of a connection, in bytes.
    static let reply = 4 * 1024 * 1024

    // A turn of a connection (``Turn``).
    /// Lines, notifications and entries of batches.
    static let turnLines = 64
    /// In nanoseconds.
    static let turnTime = 1_000_000
    /// The bytes of replies after which a turn ends, and after which the replies of several turns are sent.
    static let turnReplies = 64 * 1024
    static let unsentReplies = 256 * 1024

    // Requests that wait for a resource and run (``WorkQueue``).
    static let workPerUser = 4
    static let work = 16
    /// Of a user, for a disk, while others have requests, because a read from disk may take the time of a core.
    static let diskWorkBesideOthers = 2
    /// The time after a request in which its user counts as another user, in nanoseconds.
    static let workMemory = 1_000_000_000
    /// The bytes that a running request counts, until the event loop has its result. The maximum number of running
    /// requests counts half of the limit of replies, so that they never close a connection that reads its replies.
    static let workReserve = 1024 * 1024

    // Connections.
    /// The connections of ``Server/Limits`` that are reserved for administrators.
    static let reserved = 16
    /// The connections in the kernel's queue; the kernel applies its own limit too.
    static let backlog: Int32 = 4096
    /// The connections that are accepted before other connections have their turns.
    static let accepts = 64
    /// The shortest time between two lines in the log about clients that reached a limit, in nanoseconds.
    static let noticeGap = 60_000_000_000
    /// The events that may wait for a connection that can write at once, before events are merged.
    static let events = 64

    // Memory that is kept for reuse.
    /// The buffer of replies, in bytes.
    static let keptReplies = 512 * 1024
}

extension Server {
    /// The maximum numbers of concurrent connections.
    package struct Limits: Equatable, Sendable {
        /// The last ``Limit/reserved`` connections are for administrators.
        package var connections: Int
        /// Does not apply to administrators.
        package var connectionsPerUser: Int

        package init(connections: Int = 4096, connectionsPerUser: Int = 256) {
            (self.connections, self.connectionsPerUser) = (connections, connectionsPerUser)
        }
    }

    /// The timeouts and the memory for slow and silent peers; only tests change the values of the protocol.
    package struct Tuning: Equatable, Sendable {
        package static let standard = Tuning()

        /// The longest time without a byte in either direction.
        var idleTimeout = Duration.seconds(300)
        /// The longest time in which a peer reads no byte of the waiting replies.
        var stallTimeout = Duration.seconds(30)
        /// The shortest time between two checks of the timeouts.
        var tick = Duration.seconds(1)
        /// The longest wait of a stop for replies from memory or disk, and for peers to read their replies.
        var drainTime = Duration.milliseconds(800)
        /// The longest wait of a search for an upstream, and of a stop for requests that wait for a network.
        package var networkDrainTime = Duration.seconds(2)
        /// The maximum input of one user, divided by the number of users with input, in bytes.
        var input = 4 * 1024 * 1024
        /// The maximum memory for the replies of all connections, in bytes.
        var replies = 64 * 1024 * 1024
    }
}
