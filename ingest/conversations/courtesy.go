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

// Phrases of thanks, praise and goodbyes, and of those who only try whether somebody is there.
var courtesyCues = cues(
	"thanks", "thank you", "thx", "cheers", "appreciated", "appreciate it", "kudos", "well done", "good job", "great job", "great work", "great support", "great product", "keep it up",
	"would recommend", "brilliant", "awesome", "perfect", "excellent", "all sorted", "all set", "nice day", "nice evening", "nice weekend", "great day", "good day", "lovely day",
	"lovely weekend", "good weekend", "happy birthday", "congratulations", "bye", "may close", "can close", "can be closed", "no further questions", "testing", "just a test", "test message", "anyone there", "anybody there",
	"found it myself", "my mistake", "my fault", "on my side", "wrong window", "wrong chat", "wrong person",
	"danke", "vielen dank", "super", "klasse", "prima", "schönen tag", "schönen abend", "schönes wochenende", "selbst gefunden", "mein fehler", "nur ein test", "testnachricht", "tschüss",
	"merci", "parfait", "super", "bravo", "bonne journée", "bonne soirée", "bon week-end", "je me suis trompé", "je me suis trompée", "mon erreur", "juste un test", "au revoir",
	"gracias", "perfecto", "genial", "excelente", "buen día", "buen fin de semana", "error mío", "solo una prueba", "pueden cerrar", "puede cerrar", "hasta luego",
	"obrigado", "obrigada", "valeu", "perfeito", "ótimo", "excelente", "bom dia", "bom fim de semana", "erro meu", "só um teste", "pode encerrar", "podem encerrar", "pode fechar", "até logo",
	"grazie", "perfetto", "ottimo", "buona giornata", "errore mio", "bedankt", "dank je", "fijne dag", "mijn fout",
)

var courtesyInside = []string{"ありがとう", "テスト送信", "テストです", "お世話になりました", "失礼しました"}

// mostCourteous is how many things a courtesy speaks of at most: who says more may mean more.
const mostCourteous = 4

// courteous reports whether a sentence about something is one of thanks, praise or goodbye only.
func courteous(sentence string, about []string) bool {
	return distinct(about) <= mostCourteous && (hasCue(sentence, courtesyCues) || containsAny(sentence, courtesyInside))
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
