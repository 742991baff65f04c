import Testing

/// Web pages of different makes, and the texts that a reader sees.
struct ArticlePage: CustomTestStringConvertible {
    let testDescription: String
    let page: String
    /// The text of the article.
    let text: String
    var images: [String] = []

    static let all = [
        ArticlePage(
            testDescription: "a newspaper with consent, share buttons and adverts",
            page: #"""
                <!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>Harbour reopens after storm -
                The Daily Post</title></head>
                <body class="has-sidebar"><div id="consent-layer" role="dialog"><h2>Your privacy</h2><p>We and our
                212 partners store cookies,
                read device data, and use precise location, with your consent, which you can withdraw at any
                time.</p>
                <button>Accept all</button><a href="/privacy">Settings</a></div>
                <header class="page-header"><nav><ul><li><a href="/world">World</a></li><li><a
                href="/sport">Sport</a></li></ul></nav></header>
                <main><article class="article"><h1>Harbour reopens after storm</h1>
                <div class="article-meta"><span class="byline">By Ann Reed</span> <time>28 November
                2026</time></div>
                <div class="share-bar"><a href="https://social.example/?u=1">Share</a> <a
                href="mailto:?x">Mail</a></div>
                <figure><img src="/img/harbour.jpg" width="1200" height="800" alt="Ships at the
                quay"><figcaption>The quay on Friday. Photo: J. Bell</figcaption></figure>
                <p class="lead">The harbour of Northport opened again on Friday, two days after the worst storm in
                forty years, the port office said.</p>
                <p>Three ferries left before noon, and <a href="/timetable">the timetable</a> is expected to be
                normal on Sunday, although the
                northern pier stays closed until divers have looked at its foundations.</p>
                <div class="advert"><p>Advertisement</p><a href="https://ads.example/"><img
                src="https://ads.example/b.png"></a></div>
                <h2>Damage at the pier</h2>
                <p>Waves of nine metres had moved stones of several tons, broken two cranes, and flooded the fish
                market.</p>
                <aside class="related"><h3>Read more</h3><ul><li><a href="/a">Storm in
                pictures</a></li></ul></aside>
                <blockquote><p>We have never seen the sea in that street, and we do not want to see it
                again.</p></blockquote>
                <p>The city expects costs of 40 million, of which the state pays half.</p>
                <div class="newsletter-box"><p>Get the morning letter, free, every day.</p><form
                action="/nl"><input type="email"><button>Sign up</button></form></div>
                </article><aside class="sidebar"><h3>Most read</h3><ol><li><a href="/1">One</a></li><li><a
                href="/2">Two</a></li></ol></aside></main>
                <footer><p>Imprint, terms, privacy, and contact of The Daily Post.</p></footer></body></html>
                """#,
            text: #"""
                The quay on Friday. Photo: J. Bell

                The harbour of Northport opened again on Friday, two days after the worst storm in forty years, \#
                the port office said.

                Three ferries left before noon, and the timetable[1] is expected to be normal on Sunday, although \#
                the northern pier stays closed until divers have looked at its foundations.

                Damage at the pier

                Waves of nine metres had moved stones of several tons, broken two cranes, and flooded the fish \#
                market.

                > We have never seen the sea in that street, and we do not want to see it again.

                The city expects costs of 40 million, of which the state pays half.
                """#,
            images: [
                "https://api.example/img/harbour.jpg"
            ]),
        ArticlePage(
            testDescription: "a weblog with comments and related posts",
            page: #"""
                <!DOCTYPE html><html><head><meta charset="UTF-8"><title>How I fixed my bicycle &#8211;
                Notes</title>
                <link rel="next" href="https://notes.example/2026/11/27/soup/"></head><body
                class="post-template-default single">
                <div id="page" class="site"><header id="masthead" class="site-header"><p class="site-title"><a
                href="/">Notes</a></p>
                <nav class="main-navigation"><ul class="menu"><li><a
                href="/about">About</a></li></ul></nav></header>
                <div id="content" class="site-content"><div id="primary" class="content-area"><main id="main">
                <article id="post-7" class="post-7 post type-post hentry"><header class="entry-header"><h1
                class="entry-title">How I fixed my bicycle</h1>
                <div class="entry-meta"><span class="posted-on">Posted on <a href="/2026/11/28/">November 28,
                2026</a></span>
                <span class="byline"> by <a href="/author/jo/">Jo</a></span></div></header>
                <div class="entry-content"><p>Last week the chain of my old bicycle broke, far from home, in the
                rain.</p>
                <p>What I needed was a chain tool, two links, and patience. I had <em>none</em> of the three, so I
                walked.</p>
                <h2>The repair</h2><p>At home it took ten minutes:</p><ol><li>Push out the broken
                link.</li><li>Put in a new one.</li><li>Oil it.</li></ol>
                <p><img class="alignnone size-full wp-image-9" src="https://notes.example/up/chain.jpg"
                width="800" height="600" alt="The chain"></p>
                <p>It runs again, better than before, I think.</p>
                <div class="sharedaddy sd-sharing-enabled"><h3 class="sd-title">Share this:</h3><ul><li><a
                href="?share=x">X</a></li></ul></div>
                <div id="jp-relatedposts" class="jp-relatedposts"><h3>Related</h3><a href="/2025/tyres/">Tyres,
                tubes and patches</a></div></div>
                <footer class="entry-footer">Posted in <a href="/c/repair">Repair</a> Tagged <a
                href="/t/chain">chain</a></footer></article>
                <nav class="navigation post-navigation"><a href="/2026/11/27/soup/" rel="prev">Previous:
                Soup</a></nav>
                <div id="comments" class="comments-area"><h2>2 thoughts on &#8220;How I fixed my
                bicycle&#8221;</h2><ol class="comment-list">
                <li class="comment"><article class="comment-body"><p>Great, thank you, I had the same problem, and
                now I know what to do about it.</p></article></li>
                <li class="comment"><article class="comment-body"><p>A quick link is easier, cheaper, and needs no
                tool at all, you know.</p></article></li></ol>
                <form id="commentform"><p>Your email address will not be published.</p><textarea
                name="comment"></textarea></form></div>
                </main></div><aside id="secondary" class="widget-area"><section
                class="widget"><h2>Archives</h2><ul><li><a href="/2026">2026</a></li></ul></section></aside>
                </div><footer class="site-footer">Proudly powered by WordPress</footer></div></body></html>
                """#,
            text: #"""
                Last week the chain of my old bicycle broke, far from home, in the rain.

                What I needed was a chain tool, two links, and patience. I had none of the three, so I walked.

                The repair

                At home it took ten minutes:

                1. Push out the broken link.
                2. Put in a new one.
                3. Oil it.

                It runs again, better than before, I think.
                """#,
            images: [
                "https://notes.example/up/chain.jpg"
            ]),
        ArticlePage(
            testDescription: "a manual with code and nested lists",
            page: #"""
                <!DOCTYPE html><html><head><meta charset="utf-8"><title>Quick start — Widget 2.0
                documentation</title></head><body class="wy-body">
                <div class="related" role="navigation"><h3>Navigation</h3><ul><li><a
                href="genindex.html">index</a></li></ul></div>
                <div class="document"><div class="documentwrapper"><div class="bodywrapper"><div class="body"
                role="main">
                <section id="quick-start"><h1>Quick start<a class="headerlink" href="#quick-start" title="Link to
                this heading">¶</a></h1>
                <p>Install the package, write a file, and run it. The package needs Python 3.9 or later.</p>
                <section id="install"><h2>Install<a class="headerlink" href="#install">¶</a></h2>
                <div class="highlight-console notranslate"><div class="highlight">
                <pre><span></span><span class="gp">$ </span>pip<span class="w"> </span>install widget
                <span class="gp">$ </span>widget --version
                </pre></div></div></section>
                <section id="use"><h2>Use<a class="headerlink" href="#use">¶</a></h2><p>A program has three
                parts:</p>
                <ul class="simple"><li><p>the input, which is</p><ul><li><p>a file, or</p></li><li><p>standard
                input;</p></li></ul></li><li><p>the rules;</p></li><li><p>the output.</p></li></ul>
                <div class="highlight-python notranslate"><div class="highlight">
                <pre><span></span><span class="kn">import</span> <span class="nn">widget</span>

                <span class="k">def</span> <span class="nf">main</span><span class="p">():</span>
                    <span class="n">widget</span><span class="o">.</span>run(<span class="s2">"in.txt"</span>)
                </pre></div></div>
                <div class="admonition note"><p class="admonition-title">Note</p><p>Use <code class="docutils
                literal"><span class="pre">run()</span></code> only once, see <a href="api.html">the
                reference</a>.</p></div>
                <dl><dt><code>--quiet</code></dt><dd><p>Print
                nothing.</p></dd><dt><code>--force</code></dt><dd><p>Overwrite
                files.</p></dd></dl></section></section>
                </div></div></div><div class="sphinxsidebar"><h3>Table of Contents</h3><ul><li><a href="#">Quick
                start</a></li></ul></div></div>
                <div class="footer">&copy; 2026, Widget team.</div></body></html>
                """#,
            text: #"""
                Install the package, write a file, and run it. The package needs Python 3.9 or later.

                Install

                    $ pip install widget
                    $ widget --version

                Use

                A program has three parts:

                - the input, which is
                  - a file, or
                  - standard input;
                - the rules;
                - the output.

                    import widget
                   \#u{20}
                    def main():
                        widget.run("in.txt")

                --quiet
                  Print nothing.
                --force
                  Overwrite files.
                """#),
        ArticlePage(
            testDescription: "a wiki with tables and contents",
            page: #"""
                <!DOCTYPE html><html><head><meta charset="UTF-8"><title>Norwich lighthouse - Free
                Wiki</title></head><body class="mediawiki ltr">
                <div id="mw-page-base"></div><div id="content" class="mw-body"><h1 id="firstHeading"
                class="firstHeading">Norwich lighthouse</h1>
                <div id="bodyContent"><div id="siteSub">From Free Wiki, the free encyclopedia</div><a
                class="mw-jump-link" href="#searchInput">Jump to search</a>
                <div id="mw-content-text"><div class="mw-parser-output">
                <table class="infobox"><caption>Norwich
                lighthouse</caption><tbody><tr><th>Built</th><td>1821</td></tr><tr><th>Height</th><td>31
                m</td></tr></tbody></table>
                <p>The <b>Norwich lighthouse</b> is a tower on the eastern coast, built in 1821, which <a
                href="/wiki/Ship">ships</a> still use.<sup class="reference"><a
                href="#cite_note-1">[1]</a></sup></p>
                <div id="toc" class="toc"><h2>Contents</h2><ul><li><a href="#History">1
                History</a></li><li><a href="#Keepers">2 Keepers</a></li></ul></div>
                <h2><span class="mw-headline" id="History">History</span><span class="mw-editsection">[<a
                href="/edit?s=1">edit</a>]</span></h2>
                <p>After the wreck of three ships in one night, the town collected money, and the tower was lit in
                the autumn of the same year.</p>
                <h2><span class="mw-headline" id="Keepers">Keepers</span><span class="mw-editsection">[<a
                href="/edit?s=2">edit</a>]</span></h2>
                <p>The keepers lived in a house beside the tower, with their families, until it was automated in
                1974.</p>
                <table class="wikitable"><tbody><tr><th>Keeper</th><th>From</th><th>To</th></tr><tr><td>John
                Hale</td><td>1821</td><td>1850</td></tr>
                <tr><td><a href="/wiki/Mary_Hale">Mary
                Hale</a></td><td>1850</td><td>1877</td></tr></tbody></table>
                <h2><span class="mw-headline" id="References">References</span></h2>
                <ol class="references"><li id="cite_note-1"><a href="#cite_ref-1">^</a> Lights of the coast, p.
                12, London 1904.</li></ol>
                </div></div><div id="catlinks"><a href="/c">Categories</a>: <ul><li><a
                href="/c/Lighthouses">Lighthouses</a></li></ul></div></div></div>
                <div id="mw-navigation"><h2>Navigation menu</h2><ul><li><a href="/login">Log
                in</a></li></ul></div>
                <div id="footer"><ul><li>This page was last edited on 3 May 2026, at
                10:12.</li></ul></div></body></html>
                """#,
            text: #"""
                Norwich lighthouse
                Built | 1821
                Height | 31 m

                The Norwich lighthouse is a tower on the eastern coast, built in 1821, which ships[1] still \#
                use.^[1]

                History

                After the wreck of three ships in one night, the town collected money, and the tower was lit in \#
                the autumn of the same year.

                Keepers

                The keepers lived in a house beside the tower, with their families, until it was automated in \#
                1974.

                Keeper | From | To
                John Hale | 1821 | 1850
                Mary Hale[2] | 1850 | 1877

                References

                1. ^ Lights of the coast, p. 12, London 1904.
                """#),
        ArticlePage(
            testDescription: "divisions and line breaks only",
            page: #"""
                <html><head><title>My trip</title></head><body bgcolor=white><div align=center><a
                href=index.html>Home</a> | <a href=links.html>Links</a> | <a href=guest.html>Guestbook</a></div>
                <div>&nbsp;</div><div><div><font size=+2><b>My trip to the islands</b></font></div><br>
                <div>On Monday we took the train to the coast, and then the ship, which was late, as
                always.<br><br>
                The first island is small. There are two houses, a church, a school without pupils, and many
                sheep.<br>
                It rained.<br><br>
                On Tuesday we walked around it. It took three hours, with a rest at the northern end, where one
                sees the mainland.<br><br>
                <img src=sheep.jpg width=400 height=300><br><br>
                On Wednesday the ship did not come, nor on Thursday. On Friday it came, and we went home, tired,
                wet and happy.</div>
                </div><div>&nbsp;</div><div align=center><a href=mailto:me@home.example>Mail</a> | <a
                href=index.html>Home</a></div></body></html>
                """#,
            text: #"""
                My trip to the islands

                On Monday we took the train to the coast, and then the ship, which was late, as always.

                The first island is small. There are two houses, a church, a school without pupils, and many \#
                sheep.
                It rained.

                On Tuesday we walked around it. It took three hours, with a rest at the northern end, where one \#
                sees the mainland.

                On Wednesday the ship did not come, nor on Thursday. On Friday it came, and we went home, tired, \#
                wet and happy.
                """#,
            images: [
                "https://api.example/sheep.jpg"
            ]),
        ArticlePage(
            testDescription: "windows-1251",
            page: #"""
                <html><head><meta http-equiv="Content-Type" content="text/html;
                charset=windows-1251"><title>Новости города</title></head><body>
                <div class="menu"><a href="/">Главная</a> <a href="/news">Новости</a></div><div
                class="text"><h1>Новости города</h1>
                <p>В субботу в городе открылась новая библиотека, в которой есть читальный зал, кафе и сад.</p>
                <p>«Мы ждали этого десять лет», сказала директор, и поблагодарила строителей, жителей и
                город.</p></div>
                <div class="footer">Все права защищены</div></body></html>
                """#,
            text: #"""
                В субботу в городе открылась новая библиотека, в которой есть читальный зал, кафе и сад.

                «Мы ждали этого десять лет», сказала директор, и поблагодарила строителей, жителей и город.
                """#),
        ArticlePage(
            testDescription: "lazy pictures",
            page: #"""
                <!DOCTYPE html><html><head><meta charset="utf-8"><title>Ten days in the
                mountains</title></head><body><article>
                <h1>Ten days in the mountains</h1><p>We walked for ten days, from hut to hut, with too much in our
                bags, and these are the pictures.</p>
                <figure><img class="lazyload" src="data:image/gif;base64,R0lGODlhAQABAAAAACw=" data-src="/p/1.jpg"
                alt="The first hut"><figcaption>The first hut</figcaption></figure>
                <p>On the second day the sun came out, and the snow was so bright that we saw little else.</p>
                <img src="/p/2-small.jpg" srcset="/p/2-400.jpg 400w, /p/2-1200.jpg 1200w, /p/2-3000.jpg 3000w"
                sizes="100vw" alt="Snow">
                <p>The lake was frozen, and a fox sat on it, who looked at us for a long time.</p>
                <picture><source type="image/avif" srcset="/p/3.avif 800w"><source type="image/webp"
                srcset="/p/3.webp 800w"><img src="/p/3.jpg" alt="A fox"></picture>
                <p>Then the weather changed, and we stayed in the third hut for two days, with cards and tea.</p>
                <div class="img-wrap"><img class="lazy" src="/pixel.gif" width="1" height="1"><noscript><img
                src="/p/4.jpg" alt="The third hut"></noscript></div>
                <p>This is the last one, from the train.</p><p><img srcset="/p/5-800.jpg 800w, /p/5-1600.jpg
                1600w" alt="The valley"></p>
                <noscript><img height="1" width="1"
                src="https://tracker.example/?id=1"></noscript></article></body></html>
                """#,
            text: #"""
                We walked for ten days, from hut to hut, with too much in our bags, and these are the pictures.

                The first hut

                On the second day the sun came out, and the snow was so bright that we saw little else.

                The lake was frozen, and a fox sat on it, who looked at us for a long time.

                Then the weather changed, and we stayed in the third hut for two days, with cards and tea.

                This is the last one, from the train.
                """#,
            images: [
                "https://api.example/p/1.jpg", "https://api.example/p/2-small.jpg",
                "https://api.example/p/3.jpg", "https://api.example/p/4.jpg",
                "https://api.example/p/5-800.jpg",
            ]),
        ArticlePage(
            testDescription: "a recipe in lists",
            page: #"""
                <!DOCTYPE html><html><head><meta charset="utf-8"><title>Bread without kneading |
                Kitchen</title></head><body>
                <div class="topbar"><a href="/recipes">Recipes</a><a href="/login">Login</a></div><div
                class="recipe-page"><h1>Bread without kneading</h1>
                <div class="rating">4.8 (120 ratings)</div><a class="button" href="#recipe">Jump to recipe</a>
                <p>This bread needs time, but no work: mix it in the evening, and bake it in the morning.</p>
                <div class="recipe" id="recipe"><h2>Ingredients</h2><ul class="ingredients"><li>400 g
                flour</li><li>300 g water</li><li>8 g salt</li><li>1 g yeast</li></ul>
                <h2>Method</h2><ol class="method"><li>Mix everything in a bowl, and cover it.</li><li>Wait twelve
                hours, until the dough has bubbles.</li>
                <li>Fold the dough on a floured table, four times, and let it rest.</li><li>Bake it in a hot pot
                with a lid, 30 minutes at 250 °C, then 15 without the lid.</li></ol>
                <div class="nutrition"><table><tr><th>Energy</th><th>Protein</th></tr><tr><td>230 kcal</td><td>8
                g</td></tr></table></div></div>
                <p>Let it cool for an hour, however good it smells.</p></div>
                <div class="recommendations"><h3>You may also like</h3><ul><li><a
                href="/rolls">Rolls</a></li><li><a href="/pizza">Pizza</a></li></ul></div>
                <div class="footer-links"><a href="/imprint">Imprint</a></div></body></html>
                """#,
            text: #"""
                4.8 (120 ratings)
                Jump to recipe

                This bread needs time, but no work: mix it in the evening, and bake it in the morning.

                Ingredients

                - 400 g flour
                - 300 g water
                - 8 g salt
                - 1 g yeast

                Method

                1. Mix everything in a bowl, and cover it.
                2. Wait twelve hours, until the dough has bubbles.
                3. Fold the dough on a floured table, four times, and let it rest.
                4. Bake it in a hot pot with a lid, 30 minutes at 250 °C, then 15 without the lid.

                Energy | Protein
                230 kcal | 8 g

                Let it cool for an hour, however good it smells.
                """#),
    ]
}
