import NorrisProtocol

@testable import NorrisUpstream

// What tests decode that are not about budgets: their limits are those of any document, but no time passes, for a debug
// build on a busy machine needs more of it.

extension DecodingBudget {
    static var untimed: DecodingBudget { DecodingBudget(clock: { .zero }) }
}

func plainText(fromHTML html: String) -> String { plainText(fromHTML: html, .untimed) }

func holdsMarkup(_ text: String) -> Bool { holdsMarkup(text, .untimed) }

extension PostBatchBuilder {
    init(source: String) { self.init(source: source, .untimed) }
}
