import NorrisProtocol
import NorrisServer

/// The methods `event.*`.
struct EventHandlers: Sendable {
    var bodies: [String: MethodBody] {
        [EventSubscribe.description.name: subscribe]
    }

    @Sendable
    private func subscribe(_ call: Call, _ json: inout JSONWriter) throws(ResponseError) -> Deferred? {
        let topics = Set(EventSubscribe.Parameters(call.arguments).topics ?? Event.Topic.all)
        call.subscription.set(topics)
        EventSubscribe.Result(topics: Event.Topic.all.filter(topics.contains)).encode(to: &json)
        return nil
    }
}
