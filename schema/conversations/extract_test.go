package conversations_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/conversations"
)

func user(bodies ...string) conversations.Conversation {
	var c conversations.Conversation
	for _, body := range bodies {
		c.Parts = append(c.Parts, conversations.Part{Role: schema.RolePartUser, Body: body})
	}
	return c
}

func TestExtract(t *testing.T) {
	t.Parallel()
	about := func(subject string, c conversations.Conversation) conversations.Conversation {
		c.Subject = subject
		return c
	}
	for name, test := range map[string]struct {
		in      conversations.Conversation
		titles  []string
		impacts []schema.Impact
	}{
		"nothing": {conversations.Conversation{}, nil, nil},
		"only the others speak": {conversations.Conversation{Parts: []conversations.Part{
			{Role: schema.RolePartAssistant, Body: "It is broken."}, {Role: schema.RolePartTeamMember, Body: "I cannot see it."},
		}}, nil, nil},
		"a subject alone": {about("Export fails", conversations.Conversation{}), []string{"Export fails"}, []schema.Impact{schema.ImpactMedium}},
		"a question":      {user("Hi! How do I change the logo?"), []string{"How do I change the logo?"}, []schema.Impact{schema.ImpactLow}},
		"the sentence with the problem is the title": {
			user("Hello team. I was on the billing page. I cannot download my invoice! Thanks."),
			[]string{"I cannot download my invoice"}, []schema.Impact{schema.ImpactHigh},
		},
		"a workaround softens": {
			user("The search page crashes. For now I use another browser."),
			[]string{"The search page crashes"}, []schema.Impact{schema.ImpactMedium},
		},
		"the subject names a single issue": {
			about("Password reset", user("The mail never arrives.")), []string{"Password reset"}, []schema.Impact{schema.ImpactMedium},
		},
		"two things": {
			user("I cannot log in after the password reset.", "Also the invoice PDF is blank. The login page just reloads, it fails."),
			[]string{"I cannot log in after the password reset", "The invoice PDF is blank"},
			[]schema.Impact{schema.ImpactHigh, schema.ImpactMedium},
		},
		"markup, quotes, code and addresses are no words": {
			user("<div><p>The <b>export</b> is broken</p><script>alert('cannot')</script></div>\n> I cannot quote\n```\ncrash()\n```\nsee https://example.com/cannot"),
			[]string{"The export is broken"}, []schema.Impact{schema.ImpactMedium},
		},
		"a list is no part of a title": {user("2) The invoice has no VAT number."), []string{"The invoice has no VAT number"}, []schema.Impact{schema.ImpactMedium}},
		"a long title ends with a clause": {
			user("Our receiver rejects all of your events since we rotated the secret, and all of us wonder why."),
			[]string{"Our receiver rejects all of your events since we rotated the secret"},
			[]schema.Impact{schema.ImpactMedium},
		},
		"signatures are no words": {
			user("The export is broken.\n-- \nAnna, who cannot log in"), []string{"The export is broken"}, []schema.Impact{schema.ImpactMedium},
		},
		"what telephones add is no word": {
			user("Der Export geht nicht.\nVon meinem Telefon gesendet", "Sent from my phone"), []string{"Der Export geht nicht"}, []schema.Impact{schema.ImpactMedium},
		},
		"entities":              {user("A &lt; B gives an error &amp; more"), []string{"A < B gives an error & more"}, []schema.Impact{schema.ImpactMedium}},
		"thanks are no issue":   {user("Thanks, that works now!"), nil, nil},
		"nor are greetings":     {user("Hi there!", "Danke, hat geklappt.", "Merci, c'est réglé"), nil, nil},
		"nor are absence notes": {about("Automatic reply: Your ticket", user("I cannot be reached until Monday.")), nil, nil},
		"no words at all":       {user("👍 !!! <br/>"), nil, nil},
	} {
		var titles []string
		var impacts []schema.Impact
		for _, issue := range conversations.Extract(test.in) {
			titles, impacts = append(titles, issue.Title), append(impacts, issue.Impact)
		}
		if diff := cmp.Diff(test.titles, titles); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if diff := cmp.Diff(test.impacts, impacts); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// TestCourtesies checks that thanks, praise, greetings and good news are not issues. Problems that are described
// politely must be issues.
func TestCourtesies(t *testing.T) {
	t.Parallel()
	for _, body := range []string{
		"Thank you so much for the quick and friendly help yesterday, really appreciated!",
		"You people are great, best support I have had in years.", "Please pass on my thanks to Anna.",
		"No further questions, thank you.", "no more questions from me, have a great weekend",
		"Works again, no idea why, thanks anyway", "Works again since about noon, no idea what you did but thx",
		"Never mind, I had the wrong account open.", "Hello? Anyone there?", "Sorry, wrong window.",
		"Ok cool, that was it. Bye!", "It was the cache after all. Solved, thanks.",
		"Your new release is lovely, the team is delighted.", "Problem solved, you can close the ticket.",
		"Got it, makes sense now. Thanks!", "Ah I see, my fault. Everything is fine.",
		"Happy birthday to your product, five years already! Cake for everybody :-)",
		"Vielen Dank für die schnelle und nette Hilfe gestern!", "Ihr seid die Besten, macht weiter so",
		"Keine weiteren Fragen, danke.", "Frohe Weihnachten und guten Rutsch!",
		"Alles klar, dann weiß ich Bescheid. Schönen Feierabend!",
		"Ach, hab's gerade selbst gefunden. Schönen Tag noch!", "Merci beaucoup pour votre aide rapide hier !",
		"Aucune autre question, bonne journée", "Rien, je me suis trompé de fenêtre, désolé",
		"Muchas gracias por la ayuda tan rápida de ayer", "No tengo más preguntas, gracias",
		"Muito obrigado pela ajuda rápida de ontem!", "Sem mais perguntas, obrigado",
		"Obrigada pelo atendimento, nota 10! Pode encerrar o chamado.", "昨日は迅速なご対応ありがとうございました",
	} {
		if issues := conversations.Extract(user(body)); len(issues) != 0 {
			t.Errorf("%q has an issue: %q", body, issues[0].Title)
		}
	}
	for _, body := range []string{
		"The site is super slow since today", "Please add dark mode, thanks", "Please send me the invoice, thank you", "Could you reset my password, thanks",
		"Thanks for adding SSO. I want to export my invoices as CSV.", "Awesome tool, need a way to sort pages by date", "Great product, export loses pages",
		"Our logo is blurry, thanks for any help", "Test message from webhook shows old name", "Testing webhooks delivers twice",
		"Thanks, the editor deletes my text", "I lost my password. Thanks", "Resolved the merge but the preview is empty", "Love it. Add Spanish please.",
		"My mistake was to delete the space, restore it please", "Die Suche ist super langsam", "Bitte Rechnung als PDF schicken, danke",
		"Danke, die Bilder sind unscharf", "Merci d'ajouter un mode sombre", "Merci, la facture est en double", "Por favor agreguen modo oscuro, gracias",
		"gracias, la página tarda mucho", "obrigado, quero cancelar a assinatura", "ありがとう、画像がぼやけています",
	} {
		if issues := conversations.Extract(user(body)); len(issues) != 1 {
			t.Errorf("%q has %d issues", body, len(issues))
		}
	}
}

// TestExtractIsBounded calls Extract with random texts. Extract must not panic, and its result must be bounded.
func TestExtractIsBounded(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		body := rapid.OneOf(
			rapid.String(),
			rapid.Map(rapid.SliceOf(rapid.SampledFrom([]string{
				"cannot ", "login ", "invoice ", "broken. ", "<p>", "</p>", "<script>", "&amp;", "```", "> ", "\n", "error 500! ", "日本語。", "`",
			})), func(parts []string) string { return strings.Join(parts, "") }),
		).Draw(rt, "body")
		issues := conversations.Extract(conversations.Conversation{
			Subject: rapid.String().Draw(rt, "subject"), Parts: []conversations.Part{{Role: schema.RolePartUser, Body: body}},
		})
		if len(issues) > 5 {
			rt.Fatalf("%d issues", len(issues))
		}
		for _, issue := range issues {
			if issue.Title == "" || len([]rune(issue.Title)) > 80 || len(issue.Details) == 0 || len(issue.Words) > 200 || issue.Impact.Rank() < 0 {
				rt.Fatalf("%+v", issue)
			}
		}
	})
}
