import NorrisProtocol
import NorrisTestSupport
import Testing

private let fact = #"{"id":"a","text":"t","categories":["dev"],"source":"builtin"}"#
private let gif =
    #"{"id":"a","title":"t","rating":"g","page_url":"https://g","sticker":false,"renditions":{},"#
    + #""attribution":"Powered by GIPHY"}"#
private let post =
    #"{"id":"t:1","source":"t","author":{"id":"t:2","name":"Ada"},"tags":[],"images":[],"attachments":[],"stats":{},"#
    + #""read":false}"#
private let favorite = #"{"kind":"gif","id":"a","title":"t","added_at":"1970-01-01T00:00:00Z"}"#
private let freshness = #""freshness":{"origin":"builtin","state":"stale","error":null}"#

/// The parameters of clients and the results of daemons.
struct MethodCodingTests {
    private static let cases: [WireCase] = [
        WireCase(
            FactRandom.self,
            #"{"category":["dev","music"],"count":100,"max_length":10000,"name":"Ada","allow_explicit":true,"#
                + #""source":"fortune"}"#, result: #"{"items":[\#(fact)],\#(freshness)}"#),
        WireCase(FactRandom.self, reads: #"{"count":1}"#),
        WireCase(FactRandom.self, #"{"category":"dev"}"#, reads: #"{"category":["dev"],"count":1}"#),
        WireCase(FactToday.self, #"{"date":"2026-02-28"}"#, result: #"{"fact":\#(fact),\#(freshness)}"#),
        WireCase(FactToday.self), WireCase(FactGet.self, #"{"id":"-a","name":"Ada"}"#, result: #"{"fact":\#(fact)}"#),
        WireCase(
            FactSearch.self, #"{"query":"100%","category":["dev"],"limit":1,"cursor":"b.x","numbered":true}"#,
            result: #"{"items":[],"total":0,\#(freshness)}"#),
        WireCase(FactSearch.self, #"{"query":"a"}"#, reads: #"{"query":"a","limit":25}"#),
        WireCase(FactCategories.self, result: #"{"items":[{"name":"dev","count":12}],\#(freshness)}"#),
        WireCase(
            GifSearch.self,
            #"{"query":"kick","limit":50,"cursor":"c","rating":"pg-13","lang":"zh-TW","offline":true,"numbered":true}"#,
            result: #"{"items":[\#(gif)],\#(freshness)}"#),
        WireCase(GifSearch.self, #"{"query":"k"}"#, reads: #"{"query":"k","limit":25}"#),
        WireCase(GifTrending.self, #"{"limit":1,"cursor":"c","numbered":true}"#),
        WireCase(GifTrending.self, reads: #"{"limit":25}"#),
        WireCase(GifRandom.self, #"{"tag":"k"}"#, result: #"{"gif":\#(gif),\#(freshness)}"#), WireCase(GifRandom.self),
        WireCase(GifGet.self, #"{"id":"-a"}"#, result: #"{"gif":\#(gif)}"#),
        WireCase(
            PostList.self,
            #"{"source":"t","author":"Ada","unread":true,"muted":true,"since":"1970-01-01T00:00:01Z","#
                + #""order":"arrived","limit":100,"cursor":"c","numbered":true}"#,
            result: #"{"items":[\#(post)],"total":1,"next":"c",\#(freshness)}"#),
        WireCase(PostList.self, reads: #"{"limit":20}"#),
        WireCase(
            PostSearch.self,
            #"{"query":"a b","source":"t","unread":true,"muted":true,"limit":100,"cursor":"c","numbered":true}"#,
            result: #"{"items":[\#(post)],"total":1,"next":"c",\#(freshness)}"#),
        WireCase(PostSearch.self, #"{"query":"a"}"#, reads: #"{"query":"a","limit":20}"#),
        WireCase(
            MuteAdd.self, #"{"query":"a b","source":"t","tag":"w","except":true,"test":true}"#,
            result: #"{"matching":2}"#),
        WireCase(MuteAdd.self, #"{"query":"a"}"#, result: #"{"number":3,"matching":0}"#),
        WireCase(
            MuteList.self,
            result: #"{"items":[{"number":1,"query":"a b","source":"t","tag":"w","except":true,"matching":2},"#
                + #"{"number":3,"query":"c","except":false,"matching":0}]}"#),
        WireCase(MuteRemove.self, #"{"number":1}"#, result: #"{"removed":true,"title":"a b"}"#),
        WireCase(PostGet.self, #"{"id":"t:1"}"#, result: #"{"post":\#(post)}"#),
        WireCase(PostArticle.self, #"{"id":"t:1"}"#, result: #"{"post":\#(post)}"#),
        WireCase(PostMarkRead.self, #"{"ids":["t:1","t:2"]}"#, result: #"{"marked":2}"#),
        WireCase(PostMarkRead.self, #"{"all":true,"source":"t"}"#),
        WireCase(PostMarkUnread.self, #"{"ids":["t:1","t:2"]}"#, result: #"{"marked":2}"#),
        WireCase(
            PostSources.self,
            result: #"{"items":[{"name":"t","kind":"mastodon","url":"https://t.example","#
                + #""origin":"added","tags":[],"items":3,"#
                + #""unread":2,"newest_at":"1970-01-01T00:01:00Z","posts_per_week":3,"consecutive_failures":1,"#
                + #""moved_to":"https://n.example","article":false,\#(freshness)}]}"#),
        WireCase(
            AuthorList.self, reads: #"{"limit":100}"#,
            result: #"{"items":[{"id":"t:2","name":"Ada","handle":"@ada","avatar_url":"https://a","post_count":3},"#
                + #"{"id":"t:3","name":"Ben","post_count":0}]}"#),
        WireCase(FavoriteAdd.self, #"{"kind":"post","id":"t:1"}"#, result: #"{"added":true}"#),
        WireCase(FavoriteRemove.self, #"{"kind":"post","id":"t:1"}"#, result: #"{"removed":false}"#),
        WireCase(
            FavoriteList.self, #"{"kind":"fact","query":"a b","limit":100,"cursor":"c","numbered":true}"#,
            result: #"{"items":[\#(favorite)],"total":1}"#),
        WireCase(FavoriteList.self, reads: #"{"limit":50}"#),
        WireCase(FavoriteImport.self, #"{"items":[\#(favorite)]}"#, result: #"{"added":2,"known":1}"#),
        WireCase(
            RecentList.self,
            result: #"{"items":[{"kind":"fact","query":"round house","at":"1970-01-01T00:00:00Z"},"#
                + #"{"kind":"newer","query":"kick","at":"1970-01-01T00:00:01Z"}]}"#),
        WireCase(RecentClear.self, result: #"{"removed":6}"#),
        WireCase(
            RecentServed.self, #"{"kind":"any","index":100}"#, result: #"{"id":"a","kind":"fact","name":"Ada"}"#),
        WireCase(RecentServed.self, #"{"kind":"gif"}"#, result: #"{"id":"a"}"#),
        WireCase(
            EventSubscribe.self, #"{"topics":["item"]}"#, result: #"{"topics":["source","item","read","server"]}"#),
        // Absent topics are all, and not the same as none.
        WireCase(EventSubscribe.self), WireCase(EventSubscribe.self, #"{"topics":[]}"#),
        WireCase(SourceRefresh.self, #"{"source":"facts"}"#, result: #"{"started":["facts","planet"]}"#),
        WireCase(CacheClear.self, #"{"source":"facts"}"#, result: #"{"removed":9000}"#), WireCase(CacheClear.self),
        WireCase(
            SourceAdd.self,
            #"{"url":"u","kind":"feed","unread":0,"title":"T","refresh":"1h","keep":"2d","tags":["a"],"article":false,"#
                + #""name":"n","wait":true}"#,
            result: #"{"name":"n","added":true,"items":2}"#),
        WireCase(
            SourceEdit.self,
            #"{"name":"n","url":"u","title":"","refresh":"1h","keep":"2d","tags":[],"article":true}"#, result: "{}"),
        WireCase(PostSources.self, #"{"tag":"a"}"#, result: #"{"items":[]}"#),
        WireCase(PostMarkUnread.self, #"{"last":true}"#, result: #"{"marked":1}"#),
        WireCase(
            PostMarkRead.self, #"{"all":true,"source":"s","tag":"a","before":"1970-01-01T00:00:00Z"}"#,
            result: #"{"marked":1}"#),
        WireCase(SourceRemove.self, #"{"name":"n"}"#, result: #"{"removed":true}"#),
        WireCase(
            ServerInfo.self,
            result: #"{"name":"norrisd","version":"0.1.0","protocol":2,"capabilities":["fact","rpc"],"pid":4194304,"#
                + #""started_at":"1970-01-01T00:00:00Z"}"#),
        WireCase(
            ServerStatus.self,
            result: #"{"state":"resting","message":"104 facts","uptime_seconds":7,"connections":1,"#
                + #""requests_total":3,"sources":[{"name":"facts","kind":"chucknorris","enabled":true,"items":104,"#
                + #"\#(freshness),"consecutive_failures":0}],"hosts":[{"host":"h.example","#
                + #""until":"1970-01-01T00:00:00Z","reason":"HTTP 429","sources":2}],"#
                + #""database":{"cache_bytes":4096,"state_bytes":8192,"#
                + #""read_only":true},"version":"0.1.0"}"#),
        WireCase(ServerMetrics.self, result: #"{"text":"a{b=\"c\"} 1\n# EOF\n"}"#),
    ]

    @Test(arguments: cases) func isReadAndWritten(_ example: WireCase) throws { try example.check() }

    @Test(
        "The parameter at fault is named",
        arguments: [
            ("gif.search", #"{"query":""}"#, "query"), ("gif.search", #"{"query":"a","limit":51}"#, "limit"),
            ("gif.search", #"{"query":"a","rating":"x"}"#, "rating"),
            ("gif.search", #"{"query":"a","lang":"klingon"}"#, "lang"), ("post.search", "{}", "query"),
            ("source.edit", "{}", "name"), ("source.add", #"{"url":"u","unread":-1}"#, "unread"),
            ("source.add", #"{"url":"u","tags":[""]}"#, "tags"), ("source.add", #"{"url":"u","kind":"exec"}"#, "kind"),
            ("favorite.add", #"{"kind":"card","id":"a"}"#, "kind"), ("favorite.add", #"{"kind":"gif"}"#, "id"),
            ("recent.served", #"{"kind":"any","index":0}"#, "index"), ("recent.served", #"{"index":1}"#, "kind"),
            ("recent.served", #"{"kind":"any","index":101}"#, "index"), ("source.refresh", #"{"source":""}"#, "source"),
            ("post.list", #"{"order":"oldest"}"#, "order"), ("post.list", #"{"since":"2h"}"#, "since"),
            ("mute.add", #"{"query":""}"#, "query"), ("mute.remove", #"{"number":0}"#, "number"),
            ("event.subscribe", #"{"topics":["moon"]}"#, "topics"), ("event.subscribe", #"{"topics":null}"#, "topics"),
            ("event.subscribe", #"{"topics":"item"}"#, "topics"),
        ])
    func refusesValues(_ name: String, _ params: String, _ parameter: String) throws {
        let method = try #require(MethodTable.methods.first { $0.name == name })
        let error = #expect(throws: ResponseError.self) { try method.arguments(from: JSON.parse(params)) }
        #expect(error?.details["parameter"] == .string(parameter))
    }
}
