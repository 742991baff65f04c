package import NorrisProtocol
import NorrisSystem

/// The facts inside the daemon, so that a first start works without a network.
package enum StartingCollection {
    package typealias Section = (category: String, lines: String)

    /// All facts in the order of ``sections``. The section's category is the first category of a fact.
    package static func facts() -> [Fact] { facts(in: sections) }

    static func facts(in sections: [Section]) -> [Fact] {
        sections.flatMap { section in
            section.lines.split(separator: "\n").map { fact(line: $0, category: section.category) }
        }
    }

    private static func fact(line: Substring, category: String) -> Fact {
        var text = line
        var further: [String] = []
        while let space = text.lastIndex(of: " "), text[space...].hasPrefix(" #") {
            further.insert(String(text[space...].dropFirst(2)), at: 0)
            text = text[..<space]
        }
        var hash = FNV1a64()
        hash.combine(text)
        // Only the text is hashed, so that adding or moving facts changes no other id. 13 digits of five bits suffice
        // for a hash of 64 bits.
        let id = "builtin-" + hash.value.digits(radix: 32, width: 13)
        return Fact(id: id, text: String(text), categories: [category] + further, source: "builtin")
    }
}

extension StartingCollection {
    /// The facts of a category, one a line. A line may end with more categories, each as a space, `#` and the name.
    ///
    /// A fact fits a shell prompt if it has at most 100 characters and no backtick, `$`, `\`, `%` or `!`.
    static var sections: [Section] {
        [
            (
                "animal",
                """
                The owl behind Chuck Norris's house has stopped asking who.
                The bird in Chuck Norris's cuckoo clock knocks before it comes out.
                Chuck Norris's goldfish remembers everything and has agreed to say nothing.
                Chuck Norris taught his parrot one word. The parrot is saving it for an emergency.
                Chuck Norris adopted a cat. It comes when called, and sends a card when it cannot.
                A bee stung Chuck Norris in 1974. The hive still pays him in honey, monthly, and is never late.
                Geese fly in a V. At Chuck Norris's ranch they land, cross on foot in single file, and take off.
                Sharks have to keep swimming to breathe. When Chuck Norris gets in, they hold their breath.
                Chuck Norris won a sheepdog trial without a dog. He read out the schedule, and the sheep kept to it.
                Before hibernating, every bear in the county leaves Chuck Norris a number where it can be reached.
                """
            ),
            (
                "career",
                """
                Chuck Norris's out-of-office reply has been promoted twice.
                The only reference on Chuck Norris's CV is the sea. It speaks well of him.
                Chuck Norris worked one night as a lighthouse keeper. The rocks moved.
                As a substitute teacher, Chuck Norris took attendance once. Some pupils are still present.
                Asked where he saw himself in five years, Chuck Norris named the room, the chair and the weather.
                Chuck Norris put one slip into the suggestion box. It said "No." Productivity rose by a third.
                Chuck Norris went to an exit interview. It was the company that left.
                For legal purposes, a meeting is over when Chuck Norris looks for his hat.
                Chuck Norris's business card is blank. People thank him for the details.
                Chuck Norris spent a week on the helpdesk. On Monday there were four hundred open tickets. On Tuesday he said "Hello" into the telephone. On Wednesday people began to call in tickets that they had already solved at home, and one man returned a stapler. #dev
                """
            ),
            (
                "celebrity",
                """
                Chuck Norris was given a lifetime achievement award for a Tuesday.
                A photographer once caught Chuck Norris off guard. The picture shows the photographer.
                The wax figure of Chuck Norris holds a valid driving licence and has been called up for jury duty.
                Ships far out at sea navigate by Chuck Norris's star. It is set into a pavement. #travel
                Red carpets start out grey. They turn that colour when Chuck Norris says something nice to them.
                Chuck Norris has an entourage of one. It is a silence, and it walks slightly ahead.
                A talk show host asked Chuck Norris a follow-up question. The programme is now about birds.
                Chuck Norris wore a disguise once. The false nose has its own agent now.
                Chuck Norris does not sign autographs. He nods at the paper, and the paper remembers.
                A tabloid printed a rumour about Chuck Norris. Out of respect, it came true before lunch.
                """
            ),
            (
                "dev",
                """
                Chuck Norris's shell prompt ends in a full stop.
                Chuck Norris indents YAML by eye. The parser says that it looks lovely.
                The borrow checker lets Chuck Norris keep it.
                Chuck Norris has no backups. He has witnesses.
                When Chuck Norris rebases, colleagues remember the afternoon differently.
                The initial commit in Chuck Norris's repository says "Done." The log ends there.
                Chuck Norris's pipeline has one stage. It is called "Well?"
                Chuck Norris invalidates a cache by asking it whether it is sure.
                It is always DNS. When it is not, it is Chuck Norris, and DNS takes the blame.
                In 2009 Chuck Norris dropped a table in production. It landed on its feet.
                In 1987 Chuck Norris freed 640 kilobytes. They still meet once a year.
                Chuck Norris's threads do not race. They walk, and they arrive.
                Chuck Norris leaves his mutexes unlocked. It is that kind of neighbourhood.
                Chuck Norris was off by one, once. It is why there are leap years.
                TCP needs a three-way handshake. With Chuck Norris, one firm one is enough.
                Faced with Chuck Norris, the kernel does not panic. It stays calm in a way that worries people.
                The optimiser removes dead code. In Chuck Norris's it found some resting, and fetched a blanket.
                Chuck Norris once had a flaky test. It passed, but in a tone of voice.
                Chuck Norris writes the failing test first. Within the hour, somebody turns in the code.
                Chuck Norris's crontab has one line, and it says "soon". It has never been late.
                Chuck Norris ran rm in the wrong directory. It became the right directory.
                Chuck Norris piped yes into itself until it said maybe.
                In Swift, Chuck Norris's optionals unwrap themselves and fold the paper.
                Chuck Norris has one regular expression: mild disappointment. It matches on the first pass.
                People look up how to leave vim. Vim looked up how to make Chuck Norris stay.
                Emacs comes with a psychotherapist. Chuck Norris had one session. It now keeps a diary.
                Stack traces of Chuck Norris's programs stop halfway and say that the rest is personal.
                Chuck Norris's files begin with a byte order mark. The bytes understand that it is an order.
                In 2038 the 32-bit clocks will wrap. Chuck Norris has asked for plain paper and no ribbon.
                systemd, 03:12: A stop job is running for Chuck Norris (no limit). There is tea in the lobby.
                The firewall makes one exception for Chuck Norris. It is worded as an invitation.
                Chuck Norris seeds the random generator with a story from his youth. No two runs are alike.
                Chuck Norris's licence has two words: "Go ahead." Lawyers call it the strictest they know.
                Chuck Norris's review had one comment: "Interesting." The author withdrew the branch and now keeps bees.
                Chuck Norris explained a bug to a rubber duck. The duck fixed it, and two more on the way out. #animal
                The incident report is short. 02:14: all replicas down. 02:15: Chuck Norris opens his laptop. 02:15: all replicas up, a fourth one reports for duty, and accounting finds an invoice that has been missing since March.
                """
            ),
            (
                "fashion",
                """
                The care label in Chuck Norris's jacket says: "Take care."
                Chuck Norris once wore brown shoes with a black suit. The suit changed.
                Chuck Norris's belt has one hole. It has never needed a second opinion.
                Chuck Norris rolled up one sleeve in 1983. Half the room confessed.
                A hurricane took Chuck Norris's hat once. It works as a breeze now.
                Camouflage was invented by a pair of trousers that had seen Chuck Norris coming.
                Moths have been inside Chuck Norris's wardrobe. They came out wearing little ties.
                Chuck Norris does not iron. He hangs up the shirt, reads out the creases by name, and waits.
                Chuck Norris's socks file a flight plan before every wash.
                Chuck Norris's jeans never fade. At the end of its service, the blue is transferred to the sky.
                """
            ),
            (
                "food",
                """
                Decaf, when poured for Chuck Norris, reconsiders.
                Chuck Norris keeps a sourdough starter. It also finishes.
                Chuck Norris's fortune cookie said: "Awaiting instructions."
                Chuck Norris ordered his steak rare. The restaurant has only ever made the one.
                Waiters do not ask Chuck Norris whether everything is all right. They ask everything.
                Chuck Norris's toast lands butter side up and holds that position until dismissed.
                Chuck Norris's popcorn goes off one kernel at a time, in the order they were hired.
                Chuck Norris sent a soup back once. It went to cookery school and now has two stars.
                Chuck Norris's grandmother left a recipe of two lines: one onion, and "It knows what to do."
                A sign in the hotel's breakfast room asked guests not to take food upstairs. After Chuck Norris had walked past it with a plate of melon, it was replaced by a smaller sign, and a week later by a framed photograph of the melon. #travel
                """
            ),
            (
                "history",
                """
                Stonehenge is a domino run. Chuck Norris was called in to dinner.
                The Stone Age did not end for want of stones. Chuck Norris had asked for them back.
                Chuck Norris was shown the first wheel and said that it could lose the corners.
                The Mona Lisa smiles at everyone who enters the room. For Chuck Norris she does the teeth.
                In 1752 Britain dropped eleven days from the calendar. Chuck Norris has them in a drawer, for weekends.
                The Hundred Years' War lasted 116. Nobody wanted to tell Chuck Norris that it was running late.
                The last line of the oldest clay tablet has been read. "Chuck Norris will know what this is for."
                The Vikings reached North America in about 1000, read Chuck Norris's sign about boots, and went home. #travel
                Chuck Norris returned his scroll to the Library of Alexandria on time. The library was late.
                The museum owns a chair in which Chuck Norris may have sat. Experts were divided until it was left overnight in a room with eleven others. By morning the eleven stood in a half circle, and the one had been moved nearer to the window.
                """
            ),
            (
                "money",
                """
                Banks pay interest. To Chuck Norris they pay attention.
                Chuck Norris does have a credit score. It is unlisted.
                Technical debt in Chuck Norris's projects is paid to Chuck Norris, quarterly. #dev
                Inflation slows down at Chuck Norris's driveway, checks a list, and drives on.
                Chuck Norris never needs change. On three occasions, change has needed Chuck Norris.
                Chuck Norris found a coin in the street. It had been looking for him since it left the mint.
                A pickpocket reached into Chuck Norris's coat. He came away with a trade and a reading list.
                Chuck Norris looked at silver for a moment too long. Gold has been insecure ever since.
                Asked to split the bill, Chuck Norris did. The halves now hang over the restaurant's bar.
                A cashier asked Chuck Norris for something smaller. He came back with a smaller shop.
                """
            ),
            (
                "movie",
                """
                Chuck Norris's beard has its own trailer. It is shown before the main film.
                Chuck Norris's stunt double has a stunt double. That one has a lawyer.
                Chuck Norris made one silent film. You can hear it from the car park.
                Chuck Norris's films are not in 3D. He simply declined to be flat.
                Films have a fourth wall. They had five until Chuck Norris made his entrance.
                Chuck Norris never needs a second take. The clapperboard claps because it wants to.
                The subtitles also translate Chuck Norris's pauses. Some of them run to two lines.
                The bomb in Chuck Norris's film stops at 00:01 and then, to be on the safe side, at 00:02.
                The end credits of Chuck Norris's films roll at half speed. The names want to be seen with him.
                The villain of Chuck Norris's last film gave up at the table read. The other eighty minutes are about his flower shop.
                """
            ),
            (
                "music",
                """
                Chuck Norris bought a metronome. It waits for him.
                A piano has 88 keys. Chuck Norris needs only one, and it opens everything.
                Chuck Norris composed one piece. It is a rest, and orchestras take it very seriously.
                Chuck Norris hummed in a lift in 1985. The lift still gets requests.
                Chuck Norris plays the cello from memory. It is the cello's memory.
                Chuck Norris sings bass. His lowest note needs planning permission and a lamp.
                Chuck Norris's air guitar is kept in a museum, under a sign that says "Please do not breathe."
                A conductor pointed his baton at Chuck Norris by mistake. It has pointed north ever since.
                A song once got stuck in Chuck Norris's head. It was out by noon and does not speak of it.
                The triangle player waits two hundred bars for a single note. Once, in bar forty, Chuck Norris nodded at him from the third row. What followed is now known as the Concerto for Triangle and Orchestra, and the orchestra has not been needed since.
                """
            ),
            (
                "science",
                """
                In every study of Chuck Norris, the control group improves too.
                Doctors gave Chuck Norris a placebo. The placebo felt much better.
                Water boils at 100 degrees at sea level, or when Chuck Norris has a minute. #food
                Gravity is 9.81 metres per second squared because Chuck Norris felt that ten was showing off.
                Light is both a wave and a particle. For Chuck Norris it picks one and commits.
                Entropy always increases, except in Chuck Norris's garage, where it puts things back.
                Peer review of Chuck Norris's only paper took nine years. It was hard to find a peer.
                Chuck Norris dropped his keys into a black hole. They came by post, with a note about the delay.
                Carbon dating does not work on things that Chuck Norris owns. The carbon would rather not discuss it.
                The kilogram kept in Paris lost 50 micrograms. It had heard that Chuck Norris was coming and could not eat.
                """
            ),
            (
                "sport",
                """
                When Chuck Norris rents bowling shoes, the pins lie down.
                Photo finishes involving Chuck Norris are oil paintings.
                Chuck Norris's pawns decline promotion. They would rather go on working with him.
                A referee showed Chuck Norris a yellow card. Chuck Norris thanked him and signed it.
                When Chuck Norris says that the fish was this big, the fish confirms it. #animal
                Chuck Norris ran all four legs of a relay. The baton describes him as supportive.
                Chuck Norris took a wrong turn in a marathon. The finish line caught up with him at the bridge.
                Chuck Norris's sparring partner was the number nine bus. It has been given a quieter route.
                A golf ball that Chuck Norris drove in 1979 is still rising. Two airports give it right of way.
                The rules of the village tug-of-war are short: two teams, one rope, no Chuck Norris. The last one dates from 1982, when his side won so thoroughly that the losers have had the post code of the next village ever since.
                """
            ),
            (
                "travel",
                """
                Chuck Norris's luggage arrives a day early and checks the room.
                Chuck Norris's passport has no photograph, only the words "You will know."
                Chuck Norris signed a hotel's guest book. The publisher is hoping for a sequel.
                Chuck Norris asked for a window seat. He still has it. It is in his kitchen.
                Time and tide wait for no man. For Chuck Norris, the tide brings a folding chair.
                Chuck Norris wrote "Wish you were here" on forty postcards. The hotel ran out of beds.
                Customs asked Chuck Norris whether he had anything to declare. It is now the national anthem. #music
                Chuck Norris has never been lost. Some countries have been mistaken.
                Chuck Norris hung "Do not disturb" on his hotel door. By Thursday they had rerouted the motorway.
                Chuck Norris folded a road map on the first try. Two villages that used to be far apart now share a bakery.
                """
            ),
        ]
    }
}
