package conversations

import (
	"slices"
	"strings"
)

// Phrases by which users say that nothing, or nothing any more, is wrong.
var settledCues = cues(
	"works now", "went through", "works again", "working now", "working again", "that works", "that worked", "it worked", "works fine now", "works great", "works perfectly",
	"solved", "resolved", "fixed it", "is fixed", "all good", "never mind", "nevermind", "figured it out", "found it", "sorted it", "you can close", "please close this", "you may close", "may be closed", "can be closed",
	"automatic reply", "i am out of office", "limited access to mail", "please ignore", "out of office", "auto reply",
	"funktioniert jetzt", "jetzt klappt", "jetzt geht", "jetzt funktioniert", "bin bis", "nicht im haus", "funktioniert wieder", "geht jetzt", "geht wieder", "klappt jetzt", "klappt wieder", "hat geklappt", "erledigt", "gelöst", "kann geschlossen werden", "hat sich erledigt", "abwesenheitsnotiz", "automatische antwort",
	"ça marche", "ca marche", "fonctionne maintenant", "fonctionne de nouveau", "fonctionne à nouveau", "résolu", "c'est réglé", "c'est bon", "réponse automatique",
	"ya funciona", "funciona ahora", "ahora funciona", "resuelto", "solucionado", "pueden cerrar", "puede cerrar", "ya está", "respuesta automática",
	"funcionou", "agora funciona", "já funciona", "está funcionando", "resolvido", "deu certo", "pode encerrar", "podem encerrar", "pode fechar", "resposta automática",
	"risolto", "ora funziona", "adesso funziona", "opgelost", "werkt nu", "werkt weer",
)

// settledInside are those of scripts without blanks.
var settledInside = []string{"解決しました", "直りました", "できました", "動きました", "届きました", "ありがとうございました", "大丈夫です", "自動返信", "了解です", "助かりました"}

// Phrases that contradict one of those: "not solved", "worked until yesterday".
var unsettledCues = cues("not", "but", "still", "again since", "until", "however", "isn't", "doesn't", "nicht", "aber", "noch", "mais", "toujours pas", "pero", "no", "mas", "não", "ma", "maar", "nog")

// settledAsides contradict nothing.
var settledAsides = cues("works again since", "working again since", "no idea", "not sure why", "don't know why", "but thx", "but thanks", "but thank you", "weiß nicht warum", "keine ahnung", "aber danke", "mais merci", "je ne sais pas pourquoi",
	"no sé por qué", "pero gracias", "não sei por que", "mas obrigado", "mas obrigada")

// settles reports whether a sentence says that nothing is left to solve.
func settles(sentence string) bool {
	for _, phrase := range settledInside {
		if strings.Contains(sentence, phrase) && !strings.Contains(sentence, "が、") && !strings.Contains(sentence, "ない") && !strings.Contains(sentence, "ません") {
			return true
		}
	}
	if !hasCue(sentence, settledCues) {
		return false
	}
	rest, _ := withoutCues(sentence, settledAsides)
	return !hasCue(rest, unsettledCues)
}

// Phrases of thanks, praise and goodbyes, and of those who only try whether somebody is there.
var courtesyCues = cues(
	"thanks", "thank you", "thx", "cheers", "appreciated", "appreciate it", "kudos", "well done", "good job", "great job", "great work", "great support", "great product", "keep it up",
	"would recommend", "brilliant", "awesome", "perfect", "excellent", "all sorted", "all set", "nice day", "nice evening", "nice weekend", "great day", "good day", "lovely day",
	"lovely weekend", "good weekend", "happy birthday", "congratulations", "bye", "testing", "just a test", "test message", "anyone there", "anybody there",
	"no further questions", "no more questions", "no other questions", "that was all", "that is all", "that's all", "that was it", "that is it", "that's it", "got it", "makes sense", "pass on my thanks", "give my thanks", "say thanks",
	"keep going", "keep up", "we love", "i love", "loves it", "love it", "love the", "lovely", "delighted", "you are great", "people are great", "you are the best", "best support", "so helpful", "very helpful", "so kind", "so patient", "super patient",
	"happy new year", "merry christmas", "happy holidays", "happy easter", "somebody there", "someone there", "hello there", "is anybody here", "was just a test",
	"found it myself", "my mistake", "my fault", "on my side", "wrong window", "wrong chat", "wrong person",
	"danke", "vielen dank", "super", "klasse", "prima", "schönen tag", "schönen abend", "schönes wochenende", "schönen feierabend", "keine weiteren fragen", "keine fragen mehr", "alles klar", "weiß ich bescheid", "macht weiter so", "weiter so", "die besten", "frohe weihnachten", "guten rutsch", "frohes neues", "alles gute",
	"großes lob", "jemand da", "falsches fenster", "selbst gefunden", "mein fehler", "nur ein test", "testnachricht", "tschüss",
	"merci", "parfait", "super", "bravo", "bonne journée", "bonne soirée", "bon week-end", "aucune autre question", "pas d'autre question", "pas d'autres questions", "plus de questions", "rien je me suis trompé", "rien je me suis trompée", "trompé de fenêtre", "trompée de fenêtre", "c'est tout", "joyeux noël",
	"bonne année", "bonne continuation", "quelqu'un est là", "on adore", "j'adore", "je me suis trompé", "je me suis trompée", "mon erreur", "juste un test", "au revoir",
	"gracias", "perfecto", "genial", "excelente", "buen día", "buen fin de semana", "no tengo más preguntas", "no hay más preguntas", "ninguna pregunta más", "eso es todo", "feliz navidad", "feliz año", "enhorabuena", "nos encanta", "me encanta", "hay alguien", "error mío", "solo una prueba", "hasta luego",
	"obrigado", "obrigada", "valeu", "perfeito", "ótimo", "excelente", "bom dia", "bom fim de semana", "sem mais perguntas", "não tenho mais perguntas", "não tenho mais dúvidas", "sem mais dúvidas", "é só isso", "era só isso", "feliz natal", "feliz ano novo", "parabéns", "adoramos", "adorei", "tem alguém", "erro meu", "só um teste", "até logo",
	"grazie", "perfetto", "ottimo", "buona giornata", "errore mio", "bedankt", "dank je", "fijne dag", "mijn fout",
)

func init() { // Phrases are taken out of a sentence, and one may be a part of another.
	slices.SortStableFunc(courtesyCues, func(a, b string) int { return len(b) - len(a) })
}

var courtesyInside = []string{"ありがとう", "テスト送信", "テストです", "お世話になりました", "失礼しました"}

// courteousWords are what courtesies speak of, besides the small words of a language.
var courteousWords = set(`
quick quickly fast prompt promptly friendly patient patiently polite kind kindly help helped helpful service answer answers answered reply replies reply response explanation
explained explaining advice product tool software release version people folks guys everyone everybody weekend evening night shift birthday holiday holidays years
party cake christmas easter whole best job amazing wonderful fantastic super further side window chat cool alright indeed
ach hab gerade schnell schnelle schnellen nett nette netten freundlich freundliche hilfe antwort gestern heute produkt werkzeug service leute ganzes ganze team jahre
désolé désolée fenêtre sorry entschuldigung desculpe rapide rapidement gentil gentille aide réponse hier équipe produit outil service toute encore
rápida rápido rápidamente amable amables ayuda respuesta ayer equipo herramienta servicio todo todos
rapida rápida rapidamente gentil ajuda resposta ontem equipe time produto ferramenta serviço
veloce gentile aiuto risposta ieri snel vriendelijk hulp antwoord gisteren
`)

// mostUnknown is how many other words a courtesy has at most: who says more may mean more.
const mostUnknown = 1

// courteous reports whether a sentence is one of thanks, praise or goodbye only: besides a phrase that says so it speaks of no thing of
// the lexicon but people, and states no problem. A sentence of nothing but courteous words needs no such phrase.
func courteous(sentence, language string) bool {
	rest, cued := withoutCues(sentence, courtesyCues)
	for _, phrase := range courtesyInside {
		cued = cued || strings.Contains(rest, phrase)
		rest = strings.ReplaceAll(rest, phrase, " ")
	}
	if statesProblem(rest) {
		return false
	}
	unknown := map[string]bool{}
	for _, token := range tokens(rest) {
		if courteousWords[token] || smallAnywhere(token) {
			continue
		}
		for _, term := range terms(token, language) {
			if strings.HasPrefix(term, thingMark) && term != thingMark+"member" {
				return false
			}
			unknown[term] = true
		}
	}
	delete(unknown, thingMark+"member")
	if len(unknown) == 0 {
		return cued || !strings.ContainsAny(sentence, "?？")
	}
	return cued && len(unknown) <= mostUnknown && !strings.ContainsAny(sentence, "?？")
}

// smallAnywhere reports whether a word is a small one of any language: a short courtesy does not tell its own.
func smallAnywhere(token string) bool {
	return slices.ContainsFunc(tongues, func(t tongue) bool { return t.small[token] })
}

// turnCues begin something else than what was spoken of before.
var turnCues = cues(
	"also", "another thing", "another question", "another issue", "another problem", "one more thing", "secondly", "second thing", "second question", "separately",
	"unrelated", "on a different note", "besides that", "additionally", "in addition", "by the way", "while i'm at it", "and then there is", "furthermore", "plus", "two things", "both",
	"außerdem", "ausserdem", "zusätzlich", "noch etwas", "zweitens", "nebenbei", "eine andere", "weitere frage", "dagegen", "übrigens", "auch noch",
	"par ailleurs", "autre chose", "deuxièmement", "en plus", "de plus", "autre question", "autre souci", "autre problème", "aussi",
	"además", "otra cosa", "por otro lado", "otra pregunta", "otro problema", "en segundo lugar", "también",
	"além disso", "outra coisa", "também", "outra pergunta", "outro problema", "aproveitando",
	"inoltre", "un'altra cosa", "daarnaast", "nog iets",
)

var turnInside = []string{"また、", "もう一つ", "もう1つ", "別件", "それから", "あと、"}

func turns(sentence string) bool {
	return containsAny(sentence, turnInside) || hasCue(sentence, turnCues)
}

// automaticCues begin the subjects of mails that nobody wrote.
var automaticCues = cues("automatic reply", "auto reply", "autoreply", "out of office", "abwesenheit", "abwesenheitsnotiz", "automatische antwort", "réponse automatique", "absence du bureau",
	"respuesta automática", "fuera de la oficina", "resposta automática", "fora do escritório", "risposta automatica", "automatisch antwoord", "undeliverable", "delivery failure")
