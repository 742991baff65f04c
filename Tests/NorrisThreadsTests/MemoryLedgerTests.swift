import NorrisThreads
import Testing

struct MemoryLedgerTests {
    @Test func theAccountsAddUpTo96MiB() {
        let ledger = MemoryLedger()
        #expect(MemoryLedger.Account.allCases.map(ledger.limit(of:)).reduce(0, +) == 96 << 20)
    }

    @Test func whatDoesNotFitIsNotTaken() {
        let ledger = MemoryLedger(limits: [.input: 100])
        #expect(ledger.take(60, from: .input))
        #expect(!ledger.take(41, from: .input))
        #expect(ledger.used(of: .input) == 60)
        #expect(ledger.take(40, from: .input))
        ledger.add(-100, to: .input)
        #expect(ledger.used(of: .input) == 0)
    }
}
