package conversations

import (
	"regexp"
	"strings"
	"unicode"
)

// oneWord joins compounds that some people write as two words.
var oneWord = regexp.MustCompile(`\b(log|sign|set|check)(?:ged|ging|ing|s)?[ -](in|out|up|on)(?:to)?\b`)

// words gives the words of a text that say what it is about, in order and in lower case: no stop words. Scripts that are
// written without spaces give pairs of neighbouring characters instead, which is what stands in for words there.
func words(text string) []string {
	var found []string
	for _, field := range strings.FieldsFunc(oneWord.ReplaceAllString(strings.ToLower(text), "$1$2"), betweenWords) {
		field = strings.Trim(strings.ReplaceAll(field, "’", "'"), "'")
		if wide, ok := pairs(field); ok {
			found = append(found, wide...)
			continue
		}
		if field = strings.TrimSuffix(field, "'s"); len(field) >= 2 && !stopWords[field] {
			found = append(found, field)
		}
	}
	return found
}

func betweenWords(r rune) bool {
	return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.Is(unicode.Mn, r) && r != '\'' && r != '’'
}

// pairs splits a run of characters of a script without spaces; ok is false for words of any other script.
func pairs(field string) (found []string, ok bool) {
	runes := []rune(field)
	if len(runes) == 0 || !unicode.In(runes[0], unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai) {
		return nil, false
	}
	for i := range len(runes) - 1 {
		found = append(found, string(runes[i:i+2]))
	}
	return found, true
}

// stem cuts the endings that English words take, so that crash, crashes, crashed and crashing count as one. It need not be
// right about every word, only do the same with all forms of most.
func stem(word string) string {
	if len(word) < 4 {
		return word
	}
	switch {
	case strings.HasSuffix(word, "ies") && len(word) > 4:
		word = word[:len(word)-3] + "y"
	case hasAnySuffix(word, "sses", "xes", "ches", "shes", "zes"):
		word = word[:len(word)-2]
	case strings.HasSuffix(word, "s") && !hasAnySuffix(word, "ss", "us", "is"):
		word = word[:len(word)-1]
	}
	for _, ending := range []string{"ing", "ed"} {
		if root, ok := strings.CutSuffix(word, ending); ok && len(root) >= 3 && strings.ContainsAny(root, "aeiouy") {
			word = single(root)
			break
		}
	}
	if len(word) > 3 {
		word = strings.TrimSuffix(word, "e")
	}
	return word
}

// single removes a doubled consonant before an ending: resett becomes reset. Some words do end in a double letter.
func single(root string) string {
	last := len(root) - 1
	if root[last] == root[last-1] && !strings.ContainsRune("lsz", rune(root[last])) {
		return root[:last]
	}
	return root
}

func hasAnySuffix(word string, endings ...string) bool {
	for _, ending := range endings {
		if strings.HasSuffix(word, ending) {
			return true
		}
	}
	return false
}

// stopWords say nothing about a subject: the small words of English, the courtesies of letters, and the words with which
// anybody reports any trouble, which would make all reports look alike.
var stopWords = set(`
a about above after again against all also although am an and another any anybody anyone anything are aren't around as at
back be because been before being below between both but by can could couldn't did didn't do does doesn't doing don't done
down during each either else even ever every everything few first for from further get gets getting give go goes going gone
got had hadn't has hasn't have haven't having he her here hers him his how however i i'd i'll i'm i've if in instead into is
isn't it it's its itself just know last least less let let's like made make makes making many may maybe me might mine more
most much must my myself need needs neither never new next no nor not nothing now of off often ok okay on once one only or
other our ours out over own per perhaps quite rather really right said same say says see seem seems seen several shall she
should shouldn't since so some somebody someone something sometimes soon still such sure take takes than that that's the
their them then there there's these they they're thing things think this those though through thus till to together too
toward two under until up upon us use used uses using very via want wants was wasn't way we we're we've well were weren't what
what's when whenever where where's whether which while who whole whom whose why will with within without won't would wouldn't
yet you you're you've your yours yourself today yesterday tomorrow day days week weeks month months always already ago
hi hello hey dear thanks thank thx please regards cheers best kind sincerely sorry appreciate greetings morning
help helps helping question questions ask asking wonder wondering anyway guys team support
cannot can't unable won't work works working worked doesn't fail fails failed failing failure broken broke break issue issues
problem problems error errors bug bugs wrong trouble happen happens happening happened try tried trying tries impossible
stuck urgent urgently asap blocked blocking workaround managed message says shows showing show appears appear
`)

func set(list string) map[string]bool {
	members := map[string]bool{}
	for word := range strings.FieldsSeq(list) {
		members[word] = true
	}
	return members
}
