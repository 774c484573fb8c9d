package conversations

import "strings"

// Phrases by which users say that nothing, or nothing any more, is wrong.
var settledCues = cues(
	"works now", "went through", "works again", "working now", "working again", "that works", "that worked", "it worked", "works fine now", "works great", "works perfectly",
	"solved", "resolved", "fixed it", "is fixed", "all good", "never mind", "nevermind", "figured it out", "found it", "sorted it", "you can close", "please close this",
	"automatic reply", "i am out of office", "limited access to mail", "please ignore", "out of office", "auto reply",
	"funktioniert jetzt", "jetzt klappt", "jetzt geht", "jetzt funktioniert", "bin bis", "nicht im haus", "funktioniert wieder", "geht jetzt", "geht wieder", "klappt jetzt", "klappt wieder", "hat geklappt", "erledigt", "gelöst", "hat sich erledigt", "abwesenheitsnotiz", "automatische antwort",
	"ça marche", "ca marche", "fonctionne maintenant", "fonctionne de nouveau", "fonctionne à nouveau", "résolu", "c'est réglé", "c'est bon", "réponse automatique",
	"ya funciona", "funciona ahora", "ahora funciona", "resuelto", "solucionado", "ya está", "respuesta automática",
	"funcionou", "agora funciona", "já funciona", "está funcionando", "resolvido", "deu certo", "resposta automática",
	"risolto", "ora funziona", "adesso funziona", "opgelost", "werkt nu", "werkt weer",
)

// settledInside are those of scripts without blanks.
var settledInside = []string{"解決しました", "直りました", "できました", "動きました", "届きました", "ありがとうございました", "大丈夫です", "自動返信", "了解です", "助かりました"}

// Phrases that contradict one of those: "not solved", "worked until yesterday".
var unsettledCues = cues("not", "but", "still", "again since", "until", "however", "isn't", "doesn't", "nicht", "aber", "noch", "mais", "toujours pas", "pero", "no", "mas", "não", "ma", "maar", "nog")

// settles reports whether a sentence says that nothing is left to solve.
func settles(sentence string) bool {
	for _, phrase := range settledInside {
		if strings.Contains(sentence, phrase) && !strings.Contains(sentence, "が、") && !strings.Contains(sentence, "ない") && !strings.Contains(sentence, "ません") {
			return true
		}
	}
	return hasCue(sentence, settledCues) && !hasCue(sentence, unsettledCues)
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
