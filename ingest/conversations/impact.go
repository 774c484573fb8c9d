package conversations

import (
	"slices"
	"strings"
	"unicode"

	"github.com/octavo-docs/octavo/schema"
)

// Phrases that tell how badly somebody is stuck. Each is matched as whole words.
var (
	blockingCues = cues(
		"cannot", "can't", "cant", "can not", "could not", "couldn't", "unable", "impossible", "blocked", "blocking", "blocker", "nobody can", "no one can",
		"stuck", "is down", "are down", "went down", "goes down", "completely down", "outage", "locked out", "data loss", "deadline",
		"urgent", "urgently", "asap", "critical", "emergency", "in production", "no longer works", "won't start", "won't load", "won't open", "wont open",
		"no access", "unusable", "in one hour", "in an hour", "losing customers", "whole team", "entire team", "all our", "right now",
		"dringend", "eilt", "sofort", "unmöglich", "unbrauchbar", "ausgesperrt", "niemand kann", "produktiv", "frist", "komme nicht", "kommen nicht",
		"urgence", "bloqué", "bloqués", "bloquée", "inutilisable", "personne ne peut", "en production",
		"urgente", "bloqueado", "bloqueados", "bloqueada", "nadie puede", "no puedo", "no podemos", "imposible", "inservible", "en producción",
		"ninguém consegue", "não consigo", "não conseguimos", "impossível", "em produção", "parou tudo", "non posso", "bloccato", "kan niet", "geblokkeerd",
	)
	troubleCues = cues(
		"error", "errors", "fail", "fails", "failed", "failing", "failure", "broken", "breaks", "broke", "bug", "bugs", "buggy",
		"issue", "issues", "problem", "problems", "wrong", "incorrect", "incorrectly", "missing", "timeout", "not working", "doesn't work", "don't work", "stopped working",
		"times out", "timed out", "freezes", "frozen", "hangs", "won't", "wont", "will not", "isn't", "isnt", "aren't", "doesn't", "doesnt", "does not", "didn't", "didnt", "don't", "dont",
		"not", "never", "nothing", "no", "nope", "none", "blank", "empty", "invalid", "rejected", "refused", "denied", "expired", "confusing", "confused",
		"unclear", "unexpected", "unexpectedly", "duplicate", "duplicated", "trouble", "struggling", "keeps", "frustrating", "instead", "still", "gone",
		"nicht", "kein", "keine", "keinen", "nichts", "nie", "fehler", "kaputt", "falsch", "fehlt", "fehlen", "leider", "statt", "immer noch", "abgelehnt", "problem",
		"pas", "plus", "jamais", "rien", "aucun", "aucune", "erreur", "faux", "toujours", "problème", "souci", "cassé", "refusé",
		"nada", "nunca", "ningún", "ninguna", "fallo", "falla", "roto", "mal", "sigue", "siguen", "problema", "error", "rechaza",
		"não", "nao", "nenhum", "nenhuma", "erro", "errado", "quebrado", "falha", "continua", "continuam",
		"non", "niente", "errore", "sbagliato", "niet", "geen", "fout", "stuk",
	)
	workaroundCues = cues(
		"workaround", "work around", "worked around", "for now", "in the meantime", "as a temporary", "temporarily", "managed to",
		"manually", "by hand", "instead i", "alternative", "alternatively", "other browser", "another browser", "after a refresh", "no hurry", "no rush", "not urgent",
		"if i refresh", "after refreshing", "sometimes", "intermittent", "intermittently", "occasionally",
		"von hand", "manuell", "manchmal", "vorerst", "eilt nicht", "nicht dringend", "à la main", "parfois", "pas urgent", "en attendant",
		"a mano", "manualmente", "a veces", "de momento", "sin prisa", "no es urgente", "às vezes", "por enquanto", "sem pressa",
	)
	wishCues = cues(
		"how do i", "how do we", "how can i", "how can we", "how to", "where do i", "where can i", "is there a way", "is it possible", "would it be possible", "could you add", "can i", "can we",
		"do you support", "what is the", "what's the", "feature request", "would be nice", "i'd like to", "we'd like to", "wie kann ich", "wie können wir", "wo finde ich", "gibt es eine möglichkeit", "kann man",
		"comment faire", "comment puis", "est-ce possible", "peut-on", "cómo puedo", "como puedo", "se puede", "hay forma", "es posible", "como faço", "é possível", "tem como", "dá para",
	)
)

// Scripts without blanks have no whole words.
var (
	blockingInside = []string{"至急", "急ぎ", "困って", "入れない", "入れません", "できません", "使えません", "締め切り"}
	troubleInside  = []string{"ない", "ません", "エラー", "おかしい", "不具合", "失敗"}
)

// Things of the lexicon that hurt by themselves, and pairs of them that do together: what is lost, who is shut out, whose money
// is taken wrongly, and who sees what is private.
var (
	severeThings = []string{"locked", "lost", "crash", "outage", "security", "overwrite", "decline"}
	severePairs  = [][2]string{{"charge", "duplicate"}, {"pay", "duplicate"}, {"private", "guest"}, {"private", "access"}, {"login", "loop"}, {"webhook", "outage"}}
	nuisances    = []string{"stuck", "notarrive", "notupdate", "slow", "duplicate", "brokenlink", "code_rejected", "loop", "toomany", "encoding", "skip", "ratelimit"}
)

// impactOf follows the contract's words: high blocks and has no workaround, medium blocks in part or has one, low is little
// friction, such as a question.
func impactOf(details []string, about map[string]bool) schema.Impact {
	has := func(phrases []string) bool {
		return slices.ContainsFunc(details, func(sentence string) bool { return hasCue(sentence, phrases) })
	}
	inside := func(phrases []string) bool {
		return slices.ContainsFunc(details, func(sentence string) bool { return containsAny(sentence, phrases) })
	}
	thing := func(name string) bool { return about[thingMark+name] }
	trouble := has(troubleCues) || inside(troubleInside)
	severe := slices.ContainsFunc(severeThings, thing) ||
		slices.ContainsFunc(severePairs, func(p [2]string) bool { return thing(p[0]) && thing(p[1]) })
	blocking := has(blockingCues) || inside(blockingInside) || severe && (trouble || !has(wishCues))
	switch {
	case blocking && !has(workaroundCues):
		return schema.ImpactHigh
	case blocking, trouble && !wishOnly(details), slices.ContainsFunc(nuisances, thing):
		return schema.ImpactMedium
	}
	return schema.ImpactLow
}

// wishOnly reports whether all that somebody says is a question or a wish.
func wishOnly(details []string) bool {
	return len(details) == 1 && hasCue(details[0], wishCues)
}

func containsAny(text string, parts []string) bool {
	return slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(text, part) })
}

func statesProblem(sentence string) bool {
	return hasCue(sentence, blockingCues) || hasCue(sentence, troubleCues) || containsAny(sentence, troubleInside) || strings.ContainsAny(sentence, "?？")
}

func cues(phrases ...string) []string {
	for i, phrase := range phrases {
		phrases[i] = " " + phrase + " "
	}
	return phrases
}

func hasCue(sentence string, phrases []string) bool { return containsAny(cueText(sentence), phrases) }

// cueText is a sentence as cues are looked for in it.
func cueText(sentence string) string {
	text := strings.ReplaceAll(strings.ToLower(sentence), "’", "'")
	return " " + strings.Join(strings.FieldsFunc(text, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '\''
	}), " ") + " "
}

// withoutCues takes phrases out of a sentence, and reports whether there were any.
func withoutCues(sentence string, phrases []string) (rest string, found bool) {
	rest = cueText(sentence)
	for _, phrase := range phrases {
		if strings.Contains(rest, phrase) {
			rest, found = strings.ReplaceAll(rest, phrase, "  "), true
		}
	}
	return rest, found
}
