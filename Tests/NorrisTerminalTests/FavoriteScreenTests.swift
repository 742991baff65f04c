import NorrisProtocol
import NorrisTerminal
import Testing

struct FavoriteScreenTests {
    private let favorites = [
        Favorite(kind: .fact, id: short.id, title: short.text, addedAt: ago(7_200), fact: short),
        Favorite(kind: .gif, id: "bq2Nk0o7bQhhseGATA", title: angel.title, addedAt: ago(3 * 86_400)),
        Favorite(kind: .post, id: "town:109", title: "", addedAt: ago(-60)),
    ]

    @Test func wrapsTo80Columns() {
        #expect(screen(80) { $0.favorites(favorites, now: now) } == """
            Chuck Norris can instantiate an abstract class.
            fact  2 hours ago  ye0_hnd3rgq68e_pfvsqqg

            Full House Angel GIF by The Kelly Clarkson Show
            gif  3 days ago  bq2Nk0o7bQhhseGATA

            town:109
            post  just now  town:109

            Powered by GIPHY

            """)
    }

    @Test func wrapsTo40Columns() {
        #expect(screen(40) { $0.favorites(Array(favorites.prefix(2)), now: now) } == """
            Chuck Norris can instantiate an abstract
            class.
            fact  2 hours ago
            ye0_hnd3rgq68e_pfvsqqg

            Full House Angel GIF by The Kelly
            Clarkson Show
            gif  3 days ago  bq2Nk0o7bQhhseGATA

            Powered by GIPHY

            """)
    }

    @Test func namesGiphyOnlyWhereThereAreGifs() {
        #expect(!screen(80) { $0.favorites([favorites[0]], now: now) }.contains("GIPHY"))
    }

    @Test func linksTheTitle() {
        #expect(visible(screen(80, escapes: true) { $0.favorites([favorites[0]], now: now) }) == """
            <link https://api.chucknorris.io/jokes/ye0_hnd3rgq68e_pfvsqqg>\
            Chuck Norris can instantiate an abstract class.<link >
            <2mfact<0m  <2m2 hours ago<0m  <2mye0_hnd3rgq68e_pfvsqqg<0m

            """)
    }

    @Test func printsOneLineEachToAPipe() {
        #expect(screen(nil) { $0.favorites(favorites, now: now) } == """
            fact\tye0_hnd3rgq68e_pfvsqqg\t2026-11-21T10:00:00Z\tChuck Norris can instantiate an abstract class.
            gif\tbq2Nk0o7bQhhseGATA\t2026-11-18T12:00:00Z\tFull House Angel GIF by The Kelly Clarkson Show
            post\ttown:109\t2026-11-21T12:01:00Z\ttown:109

            """)
    }

    @Test(arguments: [1, 40, nil])
    func letsNoControlCharacterThrough(width: Int?) {
        let favorite = Favorite(
            kind: Favorite.Kind(rawValue: hostile), id: hostile, title: hostile, addedAt: now,
            fact: Fact(id: hostile, text: hostile, categories: [], source: "", url: hostile)
        )
        let text = screen(width) { $0.favorites([favorite, favorite], now: now) }
        #expect(forbidden(in: text.replacing("\t", with: "")) == [])
    }
}
