import SystemdIntegration
import Testing

struct SecretTests {
    @Test func valueIsNeverPrinted() {
        struct Settings {
            let key = Secret("hunter2")
            let keys = ["a": [Secret("hunter2")]]
        }
        let secret = Secret("hunter2")
        var dumped = ""
        dump(Settings(), to: &dumped)
        let outputs = [
            "\(secret)", secret.description, secret.debugDescription, String(reflecting: secret), "\([secret])",
            "\(Optional(secret) as Any)", "\(Settings())", String(reflecting: Settings()), dumped,
        ]
        for output in outputs {
            #expect(!output.contains("hunter2"))
            #expect(output.contains("<secret>"))
        }
        #expect(Mirror(reflecting: secret).children.isEmpty)
    }

    @Test func valueIsThereForThoseWhoAsk() {
        #expect(Secret("hunter2").value == "hunter2")
        #expect(Secret("hunter2") != Secret("hunter3"))
    }
}
