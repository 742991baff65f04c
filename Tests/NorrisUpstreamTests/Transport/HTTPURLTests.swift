import Testing

@testable import NorrisUpstream

struct HTTPURLTests {
    @Test(
        "A URL is what it was made from",
        arguments: [
            "https://api.chucknorris.io/", "http://127.0.0.1:8080/x/y", "https://[2001:db8::1]:444/a?b=c&d=/?",
            "https://h/a%20b?q=%C3%A9", "https://h_1.example/;p=(1)'*,!$",
        ]
    )
    func roundTrip(text: String) throws {
        #expect(try #require(HTTPURL(text)).description == text)
    }

    @Test(
        "What may be written in several ways has one form",
        arguments: [
            ("HTTPS://API.Example", "https://api.example/"), ("https://h:443/x", "https://h/x"),
            ("http://h:80", "http://h/"), ("http://h:443/", "http://h:443/"), ("https://h:/", "https://h/"),
            ("https://h?q=1", "https://h/?q=1"), ("https://h/a#b?c", "https://h/a"),
        ]
    )
    func normalForm(text: String, expected: String) {
        #expect(HTTPURL(text)?.description == expected)
    }

    @Test(
        arguments: [
            "", "h/x", "ftp://h/", "https:h", "https:///x", "https://", "https://#", "https://u:p@h/", "https://h@/",
            "https://h:0/", "https://h:65536/", "https://h:+1/", "https://h:1a/", "https://h x/", "https://h/a b",
            "https://h/\\x", "https://h/\n", "https://h/%", "https://h/%2", "https://h/%zz", "https://é/",
            "https://h/é", "https://[::1/", "https://[1.2.3.4]/", "https://[::1]x/", "https://[fe80::1%25eth0]/",
            "https://1.2.3.4.5/", "https://.../", "https://0x7f%2e1/", "https://h.0x1/", "https://h/<", "https://" + String(repeating: "a", count: 254) + "/",
        ]
    )
    func whatIsNoURLIsRefused(text: String) {
        #expect(HTTPURL(text) == nil)
    }

    @Test(
        "References, with the examples of RFC 3986, section 5.4",
        arguments: [
            ("g", "https://a/b/c/g"), ("./g", "https://a/b/c/g"), ("g/", "https://a/b/c/g/"), ("/g", "https://a/g"),
            ("//g", "https://g/"), ("?y", "https://a/b/c/d;p?y"), ("g?y", "https://a/b/c/g?y"),
            ("#s", "https://a/b/c/d;p?q"),
            ("g#s", "https://a/b/c/g"), (";x", "https://a/b/c/;x"), ("", "https://a/b/c/d;p?q"),
            (".", "https://a/b/c/"),
            ("./", "https://a/b/c/"), ("..", "https://a/b/"), ("../g", "https://a/b/g"), ("../..", "https://a/"),
            ("../../../g", "https://a/g"), ("/../g", "https://a/g"), ("g;x=1/../y", "https://a/b/c/y"),
            ("https://h/./x", "https://h/x"), ("g?y/../x", "https://a/b/c/g?y/../x"),
        ]
    )
    func references(reference: String, expected: String) throws {
        let base = try #require(HTTPURL("https://a/b/c/d;p?q"))
        #expect(base.resolving(reference)?.description == expected)
    }

    @Test(arguments: ["mailto:x", "ftp://h/", "http:g", "https://", "//u@h/", "a b", "x:y", "//1%2e1"])
    func aReferenceToSomethingElseIsNone(reference: String) throws {
        let base = try #require(HTTPURL("https://a/b"))
        #expect(base.resolving(reference) == nil)
    }

    @Test func theQueryIsNoPartOfThePlace() throws {
        #expect(try #require(HTTPURL("https://h:81/x?api_key=secret")).place == "h:81/x")
        #expect(try #require(HTTPURL("https://h/?api_key=secret")).place == "h")
    }

    @Test func everythingButUnreservedCharactersIsEncoded() {
        #expect(percentEncoded("aZ09-._~") == "aZ09-._~")
        #expect(percentEncoded("a b&c=d/e+f?%#\"é☃") == "a%20b%26c%3Dd%2Fe%2Bf%3F%25%23%22%C3%A9%E2%98%83")
    }
}
