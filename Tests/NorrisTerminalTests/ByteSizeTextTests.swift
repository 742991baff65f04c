import NorrisTerminal
import Testing

struct ByteSizeTextTests {
    @Test(arguments: [
        (-1, "0 B"), (0, "0 B"), (1_023, "1023 B"), (1_024, "1.0 KiB"), (1_536, "1.5 KiB"), (10_188, "9.9 KiB"),
        (10_189, "10 KiB"), (36_864, "36 KiB"), (1_048_063, "1023 KiB"), (1_048_064, "1.0 MiB"),
        (1_258_291, "1.2 MiB"), (1 << 30, "1.0 GiB"), (5 << 40, "5.0 TiB"), (1 << 50, "1.0 PiB"), (.max, "8.0 EiB"),
    ])
    func roundsToWhatFitsThreeDigits(bytes: Int, text: String) {
        #expect(byteSizeText(bytes) == text)
    }
}
