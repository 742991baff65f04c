func gif(_ id: String, _ title: String = "Cat GIF", renditions: String? = nil) -> String {
    let standard = """
        {"original":{"url":"https://media.example/\(id).gif","width":480,"height":229},\
        "hd":{"mp4":"https://media.example/\(id).mp4"}}
        """
    return """
        {"id":"\(id)","title":"\(title)","rating":"g","page_url":"https://giphy.com/gifs/\(id)","sticker":false,\
        "renditions":\(renditions ?? standard),"attribution":"Powered by GIPHY"}
        """
}
