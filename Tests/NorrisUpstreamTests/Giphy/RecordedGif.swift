/// A GIF as api.giphy.com sent it, with every member that was ever seen.
enum RecordedGif {
    static let id = "bq2Nk0o7bQhhseGATA"

    /// The form of addresses until 2024: what was asked stands in the query.
    static func media(_ file: String) -> String {
        "https://media3.giphy.com/media/\(id)/\(file)?cid=790b7611s2&ep=v1_gifs_search&rid=\(file)&ct=g"
    }

    /// The form since then.
    static let pathMedia = "https://media1.giphy.com/media/v1.Y2lkPTc5MGI3NjExc2VhcmNo+/=/\(id)/giphy.gif"

    static let json = """
        {"type":"gif","id":"\(id)",
        "url":"https://giphy.com/gifs/kelly-clarkson-show-\(id)","slug":"kelly-clarkson-show-\(id)",
        "bitly_gif_url":"https://gph.is/g/Z2rkjmv","bitly_url":"https://gph.is/g/Z2rkjmv",
        "embed_url":"https://giphy.com/embed/\(id)","username":"KellyClarksonShow",
        "source":"www.youtube.com/kellyclarksonshow","title":"Full House Angel GIF by The Kelly Clarkson Show",
        "rating":"g","content_url":"","source_tld":"","source_post_url":"www.youtube.com/kellyclarksonshow",
        "is_sticker":0,"is_hidden":false,"is_indexable":1,
        "import_datetime":"2020-09-22 01:31:35","trending_datetime":"2022-01-10 04:00:11",
        "update_datetime":"2022-01-10 04:00:12","create_datetime":"2020-09-22 01:31:35",
        "tags":[{"text":"full house"},"angel"],"alt_text":"A boy says he is an angel.","is_low_contrast":false,
        "images":{
        "original":{"height":"229","width":"480","size":"976265","url":"\(media("giphy.gif"))","mp4_size":"92050",
        "mp4":"\(media("giphy.mp4"))","webp_size":"343756","webp":"\(media("giphy.webp"))","frames":"20",
        "hash":"a7269ff7c540c5b300f733b964dc6e44"},
        "fixed_width":{"height":"95","width":"200","size":"151294","url":"\(media("200w.gif"))","mp4_size":"20007",
        "mp4":"\(media("200w.mp4"))","webp_size":"80198","webp":"\(media("200w.webp"))"},
        "fixed_width_downsampled":{"height":"95","width":"200","size":"45000","url":"\(media("200w_d.gif"))",
        "webp_size":"27000","webp":"\(media("200w_d.webp"))"},
        "480w_still":{"height":"229","width":"480","size":"","url":"\(media("480w_s.jpg"))"},
        "preview":{"height":"150","width":"314","mp4_size":"47000","mp4":"\(media("giphy-preview.mp4"))"},
        "looping":{"mp4_size":"1382639","mp4":"\(media("giphy-loop.mp4"))"}},
        "user":{"avatar_url":"https://media1.giphy.com/avatars/k/a.png","banner_image":"","banner_url":"",
        "profile_url":"https://giphy.com/KellyClarksonShow/","username":"KellyClarksonShow",
        "display_name":"The Kelly Clarkson Show","description":"","instagram_url":"","website_url":"",
        "is_verified":false},
        "analytics_response_payload":"e=Z2lmX2lkPWJxMk5rMG83YlFoaHNlR0FUQQ",
        "analytics":{"onload":{"url":"https://giphy-analytics.giphy.com/v2/pingback_simple?action_type=SEEN"},
        "onclick":{"url":"https://giphy-analytics.giphy.com/v2/pingback_simple?action_type=CLICK"},
        "onsent":{"url":"https://giphy-analytics.giphy.com/v2/pingback_simple?action_type=SENT"}}}
        """
}
