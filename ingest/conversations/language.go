package conversations

import (
	"strings"
	"unicode"

	"github.com/blevesearch/snowballstem"
	"github.com/blevesearch/snowballstem/dutch"
	"github.com/blevesearch/snowballstem/english"
	"github.com/blevesearch/snowballstem/french"
	"github.com/blevesearch/snowballstem/german"
	"github.com/blevesearch/snowballstem/italian"
	"github.com/blevesearch/snowballstem/portuguese"
	"github.com/blevesearch/snowballstem/spanish"
)

// tongue is a language whose small words are known.
type tongue struct {
	code  string
	stem  func(*snowballstem.Env) bool
	small map[string]bool
}

// tongues are in the order in which they win ties.
var tongues = []tongue{
	{"en", english.Stem, smallEnglish},
	{"de", german.Stem, set(`aber alle allem allen aller alles als also am an andere anderen auch auf aus bei beim bin bis bist da dabei dadurch daher damit dann
das dass dazu dein deine dem den denn der des deshalb die dies diese diesem diesen dieser dieses doch dort du durch ein eine einem einen einer eines einfach
er erst es etwas euch euer eure für gar ganz geht gibt gerade haben habe hat hatte hatten heute gestern hier ich ihm ihn ihnen ihr ihre ihrem ihren ihrer im immer in ins
ist ja jede jedem jeden jeder jedes jetzt kann kein keine keinem keinen keiner können könnte könnten leider machen mal man mehr mein meine meinem meinen
meiner mich mir mit muss müssen nach nicht nichts noch nun nur ob oder ohne obwohl schon sehr sein seine seit selbst sich sie sind so soll sollte sondern
sonst trotzdem über um und uns unser unsere unserem unseren unserer unter viel vom von vor war waren warum was weder weil wenn wer werden wie wieder will wir
wird wirklich wo wurde wurden würde würden zu zum zur zwar zwischen bitte danke dank vielen hallo guten tag morgen moin liebe lieber gruß grüße grüßen freundliche freundlichen
beste besten mfg vg lg hilfe helfen hilft frage problem fehler geehrte damen herren team nochmal tage tagen woche wochen stunden`)},
	{"fr", french.Stem, set(`a à ai au aucun aucune aussi autre autres aux avec avez avoir avons bien c ça car ce ceci cela ces cet cette ceux chez comme comment d dans de
déjà depuis des dès deux dit donc du elle elles en encore entre es est et étais était été être eu fait faire font fois hier il ils j je jour jours l la là le les leur leurs lors lui
m ma mais me même mes mon n ne ni nos notre nous on ont or ou où par parce pas pendant peu peut peux plus pour pourquoi pourtant pouvez près puis qu quand que quel quelle quels
qui quoi s sa sans se sera ses si son sont sous suis sur t ta tous tout toute toutes très trop tu un une va vers voici vos votre vous y bonjour bonsoir salut merci
cordialement svp plait plaît aide aider équipe cdt bien quelqu quelque chose problème erreur souci toujours semaine semaines heures impossible avant après matin`)},
	{"es", spanish.Stem, set(`a al algo algún ante antes así aun aún aunque ayer bien cada casi como cómo con cual cuál cuando cuándo de del desde dice dos donde dónde e el él ella ellos
en entre era es esa ese eso esta está estaba están estar estas este esto estos estoy fue fueron ha había hace hacer han hasta hay he hemos hoy la las le les lo los más me
mi mis mucho muy nada ni no nos nuestra nuestro nuestros o os otra otro para pero poco podemos por porque pueda puede pueden puedo pues que qué quien se sea según ser si sí sido
siempre sin sobre solo sólo son soy su sus también tan te tengo tenemos tiene todavía todo todos tu un una uno unos va vez veces y ya yo hola buenos buenas días tardes gracias saludos
ayuda ayudar favor cordial equipo problema error atentamente semana semanas horas día mañana`)},
	{"pt", portuguese.Stem, set(`a à ainda algo ao aos apenas aqui as às assim até bem cada com como da das de dela dele depois desde dia dias do dois dos duas e é ela ele eles em entre era essa
esse esta está estão estava este estou eu faz fazer fica foi foram há isso isto já lá lhe mais mas me mesmo meu meus minha minhas muito na nada não nas nem no nos nós nossa nosso nossos num numa o
os ou outra outro para pela pelo pode podem posso por porque pra quando que quem se sem ser seu seus sempre só sobre são sua suas também tem temos tenho ter teve tudo um uma umas uns
vai vez vezes você vocês olá oi bom boa tarde noite obrigado obrigada abraço abraços atenciosamente ajuda ajudar favor equipe problema erro semana semanas horas hoje ontem agora gente`)},
	{"it", italian.Stem, set(`a ad ai al alla alle anche ancora avere c che chi ci come con cosa da dal dalla dei del della delle di dopo dove due e è ed era essere fa fare gli ha hanno ho i il in io
l la le lei li lo loro ma mi mia mio molto ne nei nel nella no noi non nostra nostro o ogni oggi per perché però più poi può quando quale quello questa questo qui se sei senza si sia siamo solo sono
sta sto su sua sul suo te ti tra tu tutti tutto un una uno vi voi vorrei buongiorno ciao grazie saluti aiuto problema errore cordiali`)},
	{"nl", dutch.Stem, set(`aan al alle als altijd bij daar dan dat de deze die dit doen door een elke en er gaat geen had hebben heb heeft het hier hij hoe ik in is ja je kan kunnen maar me meer met
mij mijn moet na naar niet niets nog nu of om omdat onder ons onze ook op over te toch toen tot uit van veel voor waar waarom want was wat we weer wel werd wie wij wil word wordt zal ze zelf zich
zijn zo hallo goedemorgen bedankt dank groet groeten alvast hulp probleem fout graag`)},
}

// Languages without blanks between words are told by their script.
const (
	languageUnknown  = ""
	languageJapanese = "ja"
	languageChinese  = "zh"
)

// languageOf tells the language of a text by its script, or by the language that most of its small words are from. It says
// nothing about a text that has too few of them.
func languageOf(text string) string {
	var kana, han, letters int
	for _, r := range text {
		switch {
		case unicode.In(r, unicode.Hiragana, unicode.Katakana):
			kana++
		case unicode.Is(unicode.Han, r):
			han++
		case unicode.IsLetter(r):
			letters++
		}
	}
	switch {
	case kana > 2:
		return languageJapanese
	case han > letters:
		return languageChinese
	}
	best, most, second := languageUnknown, 0, 0
	tokens := tokens(text)
	for _, t := range tongues {
		count := 0
		for _, token := range tokens {
			if t.small[token] {
				count++
			}
		}
		if count > most {
			best, most, second = t.code, count, most
		} else if count > second {
			second = count
		}
	}
	if most == second {
		return languageUnknown
	}
	return best
}

// tongueOf is the language with a code; one that is not known is treated as English.
func tongueOf(code string) tongue {
	for _, t := range tongues {
		if t.code == code {
			return t
		}
	}
	return tongues[0]
}

// tokens gives the words of a text in lower case. An apostrophe ends a word, as in l'écran.
func tokens(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.Is(unicode.Mn, r) && r != 'ー'
	})
}
