package conversations

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/blevesearch/snowballstem"
)

// A term says what a text is about. There are three kinds: a thing of the lexicon, the stem of a word in the language of the
// text, and, in scripts without blanks, two neighboring characters.
const (
	thingMark = "#"
	pairMark  = "~"
)

// terms gives the terms of a text in a language in order, with repetitions.
func terms(text, language string) []string {
	l, t := theLexicon(), tongueOf(language)
	var found []string
	all := tokens(text)
	for i, token := range all {
		thing := func(name string) {
			if name = thingMark + name; !slices.Contains(found[max(0, len(found)-4):], name) {
				found = append(found, name)
			}
		}
		first, _ := utf8.DecodeRuneInString(token)
		if withoutBlanks(first) {
			l.thingsInside(token, thing)
			found = append(found, pairs(token)...)
			continue
		}
		l.things(all, i, thing)
		if t.small[token] || utf8.RuneCountInString(token) < 2 || digits(token) {
			continue
		}
		found = append(found, stem(token, t))
	}
	return found
}

// digits reports whether a word has digits only: an amount, a time or a number of something, which varies. Three digits may be
// an error's number.
func digits(token string) bool {
	for _, r := range token {
		if r < '0' || r > '9' {
			return false
		}
	}
	return len(token) != 3
}

// pairs are the neighboring characters of a run, without those that only join words together.
func pairs(run string) (found []string) {
	runes := []rune(run)
	for i := range len(runes) - 1 {
		if !isHiragana(runes[i]) && !isHiragana(runes[i+1]) {
			found = append(found, pairMark+string(runes[i:i+2]))
		}
	}
	return found
}

func isHiragana(r rune) bool { return r >= 0x3041 && r <= 0x309f }

func stem(token string, t tongue) string {
	env := snowballstem.NewEnv(token)
	t.stem(env)
	return env.Current()
}

func set(list string) map[string]bool {
	members := map[string]bool{}
	for word := range strings.FieldsSeq(list) {
		members[word] = true
	}
	return members
}

// smallEnglish are the small words of English, the courtesies of letters, and the words with which anybody reports any trouble,
// which would make all reports look alike.
var smallEnglish = set(`
a able about above absolutely actually after again against ago ah all already also although always am an and another any anybody
anymore anyone anything anyway appear appears appreciate are aren around as asap ask asking at back bad basically be because
been before being below besides best better between big bit blocked blocking both break broke broken bug bugs but by can cannot
cheers completely could couldn currently d day days dear did didn do does doesn doing don done down during each either else
error errors especially even ever every everything exactly fail failed failing fails failure few fine first for from further get
gets getting give go goes going gone good got great greetings guys had hadn happen happened happening happens has hasn have
haven having he hello help helping helps her here hers hey hi him his hm hmm hope hoping hour hours how however i idea if
impossible in instead into is isn issue issues it its itself just kind know last later least less let like little ll lot lots
love m made main make makes making managed many may maybe me message might mine minute moment month months more morning most
much must my myself name need needs neither never new next nice no nope nor normal normally not nothing now of off often oh ok
okay old on once one only or other our ours out over own part people per perhaps person place please point possible probably
problem problems question questions quite rather re real really reason recently regards right s said same say says see seem
seems seen seriously several shall she short should shouldn show showing shows simply since sincerely so some somebody someone
something sometimes soon sorry sort still stuck stuff such suddenly support sure t take takes team than thank thanks that the
their them then there these they thing things think this those though thought through thus thx till to today together told
tomorrow too totally toward tried tries trouble try trying two ty unable under until up upon urgent urgently us use used uses
using usually ve very via want wants was wasn way we week weeks well were weren what when whenever where whether which while who
whole whom whose why will with within without won wonder wondering work workaround worked working works would wouldn wrong yep
yes yesterday yet you your yours yourself
`)
