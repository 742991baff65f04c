import NorrisText
import Testing

struct HTTPURLTests {
    @Test(
        "Equivalent URLs have one form, which is read as itself",
        arguments: [
            ("HTTPS://API.Example", "https://api.example/"), ("https://h:443/x", "https://h/x"),
            ("http://h:80", "http://h/"), ("http://h:443/", "http://h:443/"), ("https://h:/", "https://h/"),
            ("https://h?q=1", "https://h/?q=1"), ("https://h/a#b?c", "https://h/a"),
            ("http://127.0.0.1:8080/x/y", "http://127.0.0.1:8080/x/y"),
            ("https://[2001:db8::1]:444/a?b=c&d=/?", "https://[2001:db8::1]:444/a?b=c&d=/?"),
            ("https://h/a%20b?q=%C3%A9", "https://h/a%20b?q=%C3%A9"),
            ("https://u:p%40@h:81/x", "https://u:p%40@h:81/x"),
            ("https://h_1.example/;p=(1)'*,!$", "https://h_1.example/;p=(1)'*,!$"),
            ("https://h/%zz?a=5%&b", "https://h/%zz?a=5%&b"),
        ]
    )
    func normalForm(text: String, expected: String) {
        #expect(HTTPURL(text)?.description == expected && HTTPURL(expected)?.description == expected)
    }

    @Test(arguments: [
        "", "h/x", "ftp://h/", "https:h", "https:///x", "https://", "https://#", "https://h@/", "https://u:p@/",
        "https://h:0/", "https://h:65536/", "https://h:+1/", "https://h:1a/", "https://h x/", "https://h/a b",
        "https://h/\\x", "https://h/\n", "https://é/", "https://h/é",
        "https://[::1/", "https://[1.2.3.4]/", "https://[::1]x/", "https://[fe80::1%25eth0]/", "https://1.2.3.4.5/",
        "https://.../", "https://0x7f%2e1/", "https://h.0x1/", "https://h/<", "https://127.1/", "https://0x7f000001/",
        "https://2130706433/", "https://0177.0.0.1/", "https://h..example/",
        "https://" + String(repeating: "a", count: 254) + "/",
    ]) func whatIsNoURLIsRefused(text: String) { #expect(HTTPURL(text) == nil) }

    @Test(
        "References, with the examples of RFC 3986, section 5.4",
        arguments: [
            ("g", "https://a/b/c/g"), ("./g", "https://a/b/c/g"), ("g/", "https://a/b/c/g/"), ("/g", "https://a/g"),
            ("//g", "https://g/"), ("?y", "https://a/b/c/d;p?y"), ("g?y", "https://a/b/c/g?y"),
            ("#s", "https://a/b/c/d;p?q"), ("g#s", "https://a/b/c/g"), (";x", "https://a/b/c/;x"),
            ("", "https://a/b/c/d;p?q"), (".", "https://a/b/c/"), ("./", "https://a/b/c/"), ("..", "https://a/b/"),
            ("../g", "https://a/b/g"), ("../..", "https://a/"), ("../../../g", "https://a/g"), ("/../g", "https://a/g"),
            ("g;x=1/../y", "https://a/b/c/y"), ("https://h/./x", "https://h/x"), ("g?y/../x", "https://a/b/c/g?y/../x"),
        ]
    )
    func references(reference: String, expected: String) throws {
        let base = try #require(HTTPURL("https://a/b/c/d;p?q"))
        #expect(base.resolving(reference)?.description == expected)
    }

    @Test(arguments: ["mailto:x", "ftp://h/", "http:g", "https://", "a b", "x:y", "//1%2e1"])
    func aReferenceToSomethingElseIsNone(reference: String) throws {
        let base = try #require(HTTPURL("https://a/b"))
        #expect(base.resolving(reference) == nil)
    }

    @Test func messagesNeverHoldTheQuery() throws {
        #expect(try #require(HTTPURL("https://h:81/x?api_key=secret")).hostAndPath == "h:81/x")
        #expect(try #require(HTTPURL("https://h/?api_key=secret")).hostAndPath == "h")
        #expect(try #require(HTTPURL("https://user:secret@h/x")).hostAndPath == "h/x")
    }

    @Test func everythingButUnreservedCharactersIsEncoded() {
        #expect(percentEncoded("aZ09-._~") == "aZ09-._~")
        #expect(percentEncoded("a b&c=d/e+f?%#\"é☃") == "a%20b%26c%3Dd%2Fe%2Bf%3F%25%23%22%C3%A9%E2%98%83")
    }
}

struct PrivateAddressTests {
    static let blocks: [(first: String, last: String)] = [
        ("0.0.0.0", "0.255.255.255"), ("10.0.0.0", "10.255.255.255"), ("100.64.0.0", "100.127.255.255"),
        ("127.0.0.0", "127.255.255.255"), ("169.254.0.0", "169.254.255.255"), ("172.16.0.0", "172.31.255.255"),
        ("192.0.0.0", "192.0.0.255"), ("192.0.2.0", "192.0.2.255"), ("192.168.0.0", "192.168.255.255"),
        ("198.18.0.0", "198.19.255.255"), ("198.51.100.0", "198.51.100.255"), ("203.0.113.0", "203.0.113.255"),
        ("224.0.0.0", "255.255.255.255"), ("::", "::1"), ("64:ff9b:1::", "64:ff9b:1:ffff:ffff:ffff:ffff:ffff"),
        ("100::", "100::ffff:ffff:ffff:ffff"), ("2001::", "2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff"),
        ("2001:db8::", "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff"), ("3fff::", "3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff"),
        ("5f00::", "5f00:ffff:ffff:ffff:ffff:ffff:ffff:ffff"), ("fc00::", "fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"),
        ("fe80::", "feff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"), ("ff00::", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"),
    ]

    @Test(arguments: blocks) func bothEndsOfABlockArePrivate(block: (first: String, last: String)) throws {
        #expect(try #require(IPAddress(block.first)).isPrivate)
        #expect(try #require(IPAddress(block.last)).isPrivate)
    }

    @Test(
        "The neighbors of the blocks are public",
        arguments: [
            "1.0.0.0", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "126.255.255.255", "128.0.0.0",
            "169.253.255.255", "169.255.0.0", "172.15.255.255", "172.32.0.0", "191.255.255.255", "192.0.1.0",
            "192.0.3.0", "192.167.255.255", "192.169.0.0", "198.17.255.255", "198.20.0.0", "198.51.99.255",
            "198.51.101.0", "203.0.112.255", "203.0.114.0", "223.255.255.255", "8.8.8.8",
            "64:ff9b:0:ffff:ffff:ffff:ffff:ffff", "64:ff9b:2::", "ff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "100:0:0:1::",
            "2000:ffff::", "2001:200::", "2001:db7:ffff::", "2001:db9::", "3ffe:ffff::", "3fff:1000::", "5eff:ffff::",
            "5f01::", "fbff:ffff::", "fe00::", "fe7f:ffff::", "2001:4860:4860::8888", "2606:4700::1111",
        ]
    )
    func neighbors(address: String) throws { #expect(try !#require(IPAddress(address)).isPrivate) }

    @Test(
        "An address of IPv6 that carries one of IPv4 counts as that one",
        arguments: ["::ffff:%@", "::%@", "64:ff9b::%@"]
    )
    func embedded(form: String) throws {
        func address(_ v4: String) throws -> IPAddress { try #require(IPAddress(form.replacing("%@", with: v4))) }
        #expect(try address("127.0.0.1").isPrivate)
        #expect(try address("10.1.2.3").isPrivate)
        #expect(try address("169.254.169.254").isPrivate)
        #expect(try !address("8.8.8.8").isPrivate)
    }

    @Test func addressesOf6to4CountAsTheirRelay() throws {
        #expect(try #require(IPAddress("2002:7f00:1::")).isPrivate)
        #expect(try #require(IPAddress("2002:c0a8:101::1")).isPrivate)
        #expect(try !#require(IPAddress("2002:808:808::1")).isPrivate)
    }

    @Test(arguments: [
        "127.0.0.1", "10.0.0.1", "[::1]", "[::ffff:10.0.0.1]", "[fe80::1]", "localhost", "LOCALHOST", "localhost.",
        "a.localhost",
    ]) func theseNamesArePrivate(host: String) throws {
        #expect(try #require(HTTPURL("https://\(host)/")).hasPrivateHost)
    }

    @Test(arguments: ["8.8.8.8", "8.8.8.8.", "[2606:4700::1111]", "example.org", "localhost.example", "10.example"])
    func theseNamesAreNot(host: String) throws { #expect(try !#require(HTTPURL("https://\(host)/")).hasPrivateHost) }
}
