import NorrisProtocol
import NorrisTerminal

let ada = Post.Author(
    id: "town:7", name: "Ada Lovelace", handle: "@ada@town.example", avatarURL: "https://town.example/ada.png",
    email: "ada@town.example"
)

/// A read post of one line, three minutes old.
func post(_ text: String? = "Good morning.", images: Int = 0) -> Post {
    Post(
        id: "town:109",
        source: "town",
        author: ada,
        publishedAt: ago(180),
        text: text,
        images: (0..<images).map { index in
            Post.Image(
                url: "https://files.example/pic\(index + 1).jpg?size=large",
                width: 640,
                height: 480,
                alt: index == 0 ? "A cat on a mat, looking at the camera" : nil
            )
        },
        url: "https://town.example/@ada/109",
        isRead: true
    )
}

let essay = """
    The analytical engine has no pretensions whatever to originate anything. It can do whatever we know how to order \
    it to perform. It can follow analysis; but it has no power of anticipating any truths.

    Its province is to assist us in making available what we are already acquainted with.
    """

func cards(_ posts: [Post], _ width: Int?, escapes: Bool = false, showsAll: Bool = false) -> String {
    screen(width, escapes: escapes) { screen in
        screen.posts(posts, now: now, showsAll: showsAll) { "norrisctl post \($0)" }
    }
}
