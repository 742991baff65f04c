import NorrisPrefetch
import NorrisProtocol
import NorrisServer
import NorrisStore

/// Joins the schedule to the databases that remember it, the clients that watch it and the status line.
struct ScheduleHost: PrefetchHost {
    let stores: Stores
    let events: EventHub
    let changes: WakeSignal

    func history(of source: String) -> SourceSchedule.History {
        let record = stores.schedules.all()[source].map(SourceSchedule.Record.init) ?? SourceSchedule.Record()
        let content = stores.fetches.record(of: source).map {
            SourceSchedule.Content(settings: $0.settings, fetchedAt: $0.fetchedAt)
        }
        return SourceSchedule.History(record: record, content: content)
    }

    func store(_ record: SourceSchedule.Record, of source: String) {
        stores.schedules.write(ScheduleRecord(record), for: source)
    }

    func began(_ source: String) {
        tell(.source(source, .started))
    }

    func finished(_ source: String, added: Int) {
        if added > 0 { tell(.item(source: source, added: added)) }
        tell(.source(source, .finished, items: stores.count(of: source)))
    }

    func failed(_ source: String, _ failure: SourceFailure) {
        tell(.source(source, .failed, error: failure))
    }

    private func tell(_ event: Event) {
        events.publish(event)
        changes.set()
    }
}

extension SourceSchedule.Record {
    init(_ kept: ScheduleRecord) {
        self.init()
        nextRunAt = kept.nextRunAt
        backoffUntil = kept.backoffUntil
        retryAt = kept.retryAt
        failures = kept.failures
        failedAt = kept.failedAt
        settings = kept.settings
        hadContent = kept.hadContent
        if let kind = kept.failureKind, let since = kept.failureSince {
            failure = SourceFailure(
                kind: SourceFailure.Kind(rawValue: kind), message: kept.failureMessage ?? "", since: since
            )
        }
    }
}

extension ScheduleRecord {
    init(_ record: SourceSchedule.Record) {
        self.init()
        nextRunAt = record.nextRunAt
        backoffUntil = record.backoffUntil
        retryAt = record.retryAt
        failures = record.failures
        failedAt = record.failedAt
        settings = record.settings
        hadContent = record.hadContent
        failureKind = record.failure?.kind.rawValue
        failureMessage = record.failure?.message
        failureSince = record.failure?.since
    }
}
