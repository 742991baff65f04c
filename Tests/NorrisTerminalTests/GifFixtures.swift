import NorrisProtocol

let angel = Gif(
    id: "bq2Nk0o7bQhhseGATA",
    title: "Full House Angel GIF by The Kelly Clarkson Show",
    rating: "g",
    pageURL: "https://giphy.com/gifs/kelly-clarkson-show-bq2Nk0o7bQhhseGATA",
    username: "KellyClarksonShow",
    altText: "A man in a white suit looks up, spreads two large wings and leaves through the ceiling.",
    renditions: [
        "original": Gif.Rendition(
            url: "https://media2.giphy.com/media/v1.Y2lk/bq2Nk0o7bQhhseGATA/giphy.gif?cid=1&rid=giphy.gif&ct=g",
            mp4: "https://media2.giphy.com/angel.mp4", width: 480, height: 229, bytes: 954_321, frames: 20
        ),
        "fixed_height": Gif.Rendition(url: "https://media2.giphy.com/angel-200.gif", width: 419, height: 200),
        "original_still": Gif.Rendition(url: "https://media2.giphy.com/angel.jpg", width: 480, height: 229),
        "preview": Gif.Rendition(mp4: "https://media2.giphy.com/preview.mp4", width: 200, height: 96, bytes: 50_000),
    ]
)

/// All that Giphy may leave out is left out.
let bare = Gif(id: "x", title: " ", rating: "", pageURL: "")

let nameless = Gif(
    id: "3o7", title: "", rating: "pg-13", pageURL: "https://giphy.com/gifs/3o7", username: "studio", altText: " ",
    isSticker: true, renditions: ["downsized": Gif.Rendition(url: "http://media.example/d.gif", frames: 1)]
)

let cats = Gif(
    id: "猫", title: "猫がキーボードの上を歩いている、とても長い題名のジフ", rating: "g", pageURL: "https://giphy.com/gifs/c",
    altText: "猫がキーボードの上を歩いている、とても長い題名のジフ",
    renditions: ["original": Gif.Rendition(url: "https://media.example/cat.gif", width: 100, height: 80)]
)
