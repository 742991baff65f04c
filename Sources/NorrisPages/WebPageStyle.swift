extension WebPage {
    /// The beginning of every page. The policy allows only images and media, and the style with this hash, which a test
    /// checks.
    static let head: StaticString = """
        <!DOCTYPE html>
        <html lang="en"><head><meta charset="utf-8">
        <meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src http: https:; media-src http: \
        https:; style-src 'sha256-rBy44XwuSfZanF5BJUE/14ZZZ4N1Cgyz7ywA9bYOu6o='; base-uri 'none'; form-action 'none'">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <meta name="referrer" content="no-referrer"><meta name="color-scheme" content="light dark">
        <style>
        :root{--bg:#f4f2ee;--card:#fff;--soft:#ece9e3;--line:#ddd9d1;--ink:#22262a;--dim:#5d646b;--link:#0a58b5;
        --warn:#8a4600}@media(prefers-color-scheme:dark){:root{--bg:#121416;--card:#1b1e21;--soft:#272b2f;
        --line:#33383d;--ink:#e3e5e8;--dim:#a1a8b0;--link:#8cbaff;--warn:#f2b56b}}*{box-sizing:border-box}
        body{max-width:43rem;margin:0 auto;padding:clamp(1rem,4vw,3rem) clamp(.75rem,3vw,2rem);background:var(--bg);
        color:var(--ink);font:1.0625rem/1.6 system-ui,sans-serif;overflow-wrap:anywhere}
        body:has(main>.gif){max-width:90rem}main{display:flex;flex-wrap:wrap;gap:1.25rem 1rem;margin:1.25rem 0}
        main::after{content:"";flex:9 1 0}h1,h2{margin:0;line-height:1.3}
        h1{font-size:clamp(1.6rem,1.3rem + 1.5vw,2.2rem);letter-spacing:-.02em}h2{font-size:1.25rem}
        p,.text ul,.text ol{margin:.6rem 0}a{color:var(--link);text-underline-offset:.15em}h1 a,h2 a{color:inherit}
        h1 a,h2 a,.images a{text-decoration:none}summary:hover{text-decoration:underline}
        h1 a:hover,h2 a:hover{color:var(--link);text-decoration:underline}@media(hover:none){
        h2 a{text-decoration:underline}}
        :focus-visible{outline:3px solid var(--link);outline-offset:2px;border-radius:4px}
        .vh{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}
        .dim,.old,footer,figcaption{color:var(--dim);font-size:.875rem;line-height:1.75}.old{color:var(--warn)}
        article,.card{flex:1 0 100%;max-width:100%}
        .card{padding:clamp(1rem,4vw,1.5rem);background:var(--card);border:1px solid var(--line);border-radius:14px}
        article header{display:flex;gap:.75rem;align-items:center}header p{margin:0}
        article .name{font-size:1.0625rem;font-weight:600;letter-spacing:0}
        header img{flex:none;border-radius:50%;background:var(--soft);object-fit:cover}time{white-space:nowrap}
        .new{color:var(--link);font-weight:600}article footer,.fact figcaption,.images,.file{margin:.9rem 0 0}
        article footer{display:flow-root}.from{float:inline-end}.text ul,.text ol{padding-inline-start:1.6em}
        li p,.text li ul,.text li ol{margin:0}li p+p{margin-top:.6rem}
        .start{display:-webkit-box;-webkit-box-orient:vertical;-webkit-line-clamp:3;overflow:hidden}
        .start:has(+[open]),[open]>summary .open,:not([open])>summary>.close{display:none}details{margin-top:.5rem}
        summary{width:fit-content;color:var(--link);font-size:.9375rem;font-weight:500;cursor:pointer}
        .warn>summary{color:var(--warn)}
        blockquote{margin:.8rem 0;padding-inline-start:1rem;border-inline-start:3px solid var(--line);color:var(--dim)}
        code{font-family:ui-monospace,monospace;font-size:.9em}
        :not(pre)>code{background:var(--soft);padding:.1em .35em;border-radius:5px}
        pre,.table{overflow-x:auto;overflow-wrap:normal;margin:.8rem 0}
        pre{padding:.8rem 1rem;background:var(--soft);border-radius:8px;line-height:1.45;tab-size:4}
        table{border-collapse:collapse;font-size:.9375rem}
        td,th{border:1px solid var(--line);padding:.3rem .6rem;text-align:start;vertical-align:top}
        th{background:var(--soft)}hr{color:var(--line)}
        .text h2,h3,h4,h5,h6{margin:1.2rem 0 .5rem;font-size:1.06rem;line-height:1.3}h3{font-size:1.15rem}
        .text img{max-width:100%;height:auto;border-radius:8px;vertical-align:middle}[open]~.placed{display:none}
        .images{display:grid;grid-template-columns:1fr 1fr;gap:4px;border-radius:10px;overflow:hidden}
        .images a,.images summary{display:block;position:relative;min-width:0;width:100%;aspect-ratio:4/3;
        background:var(--soft)}img{position:relative}img::after{content:attr(alt);position:absolute;inset:0;
        display:grid;place-items:center;background:var(--soft);text-align:center;overflow:hidden}
        .images img::after{padding:.3rem}
        .images img{display:block;width:100%;height:100%;object-fit:cover;overflow:hidden}
        img{color:var(--dim);font-size:.8rem}.images :focus-visible{outline-offset:-3px}.i1{display:block}
        .i1 a{aspect-ratio:auto}.i1 img{height:auto;max-height:36rem;object-fit:contain}
        .i1 img:not([width]){aspect-ratio:3/2}.i2 a,.i3 a{aspect-ratio:1}.i3{grid-template-columns:2fr 1fr}
        .i3 a:first-child{grid-row:span 2;aspect-ratio:auto}.i3 a:first-child img{position:absolute}
        .images details{margin:0}.images [open]{grid-column:1/-1}
        .i4:has(>[open])>a:nth-child(3),details a:last-child:nth-child(odd){grid-column:1/-1;aspect-ratio:8/3}
        .images .open{position:absolute;inset:0;display:grid;place-items:center;background:#000a;color:#fff;
        font-size:1.6rem}.images [open]>summary{aspect-ratio:auto;padding:.5rem;text-align:center}
        .images [open]>summary>img{display:none}.images .images{margin:0}
        audio,video{display:block;width:100%;margin-bottom:.3rem;border-radius:8px}
        video{aspect-ratio:16/9;background:#000}figure{margin:0}
        .fact blockquote{margin:0;padding:0;border:0;color:inherit;font-size:1.25rem;white-space:pre-wrap}
        .gif{--r:1;flex:var(--r) 1 calc(var(--r)*clamp(9rem,20vw,13rem));max-width:calc(var(--r)*19rem)}
        .gif:only-child{flex-basis:100%;max-width:calc(var(--r)*30rem)}.gif a{display:block}
        .gif img,.held{display:block;width:100%;height:auto;aspect-ratio:var(--r);object-fit:cover;border-radius:10px;
        background:var(--soft);overflow:hidden}.r4 img{object-fit:contain}
        .gif figcaption{width:0;min-width:100%;margin-top:.3rem;white-space:nowrap;overflow:hidden;
        text-overflow:ellipsis}.gif .name{color:var(--ink);font-weight:500}.card figcaption{white-space:normal}
        figcaption:empty{display:none}.r6{--r:1.2}.r7{--r:1.4}.r8{--r:1.6}.r9{--r:1.8}.r10{--r:2}.r11{--r:2.2}
        .r12{--r:2.4}.gif .held{display:none}@media(prefers-reduced-motion:reduce){.gif .moves{display:none}
        .gif .held{display:grid;place-items:center;border:1px solid var(--line);background:none}}@media print{
        :root{--bg:#fff;--card:#fff;--soft:#f2f2f2;--line:#bbb;--ink:#000;--dim:#444;--link:#000;--warn:#000}
        body{max-width:none;padding:0;font-size:11pt}main{display:block}.card{border-width:0 0 1px;border-radius:0}
        figure,img,tr,h2{break-inside:avoid}pre{white-space:pre-wrap}
        main>.gif{display:inline-block;width:23%;margin:0 1% 1rem 0;vertical-align:top}
        .text a:not(:has(img))::after,.file a::after,.from::after{content:" (" attr(href) ")"}
        audio,video,.start+*>summary{display:none}@supports selector(::details-content){.start{display:none}
        .start+details::details-content{display:block;content-visibility:visible}}}
        </style>

        """
}
