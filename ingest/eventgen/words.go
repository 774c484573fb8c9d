package eventgen

// queryStages is the largest number of events that report the same query while it is being typed.
const queryStages = 3

// searches has search queries as JSON strings: each query at its stages of typing.
var searches = func() (all [][queryStages]string) {
	for _, words := range []string{
		"install", "api key", "rate limit", "webhooks", "webhook signature", "pagination", "authentication", "oauth scopes", "sso", "saml setup",
		"docker compose", "kubernetes helm", "terraform provider", "migrate from v1", "breaking changes", "environment variables", "cli login", "export csv",
		"invoices", "billing address", "delete account", "roles and permissions", "audit log", "custom domain", "error 429", "error 403", "timeout",
		"sdk python", "sdk go", "typescript types", "graphql", "openapi spec", "slack integration", "github action", "retry policy", "idempotency",
		"sandbox", "test mode", "change password", "two factor", "data retention", "backup", "restore", "upgrade", "changelog", "\"unexpected token\"",
		"インストール", "認証", "clé api", "limite de débit",
	} {
		runes := []rune(words)
		var q [queryStages]string
		for i := range queryStages {
			q[i] = quote(string(runes[:max(1, len(runes)*(i+1)/queryStages)]))
		}
		all = append(all, q)
	}
	return all
}()

var questions = quoteAll(
	"How do I rotate an API key without downtime?",
	"What is the rate limit for the events endpoint?",
	"Can I run this on Kubernetes with my own Postgres?",
	"Why do I get a 403 when I list projects?",
	"How do I verify a webhook signature in Go?",
	"Does the export include archived invoices?",
	"How do I migrate from v1 to v2 of the users API?",
	"Wie richte ich SSO mit Azure AD ein?",
	"Comment supprimer un membre de l'équipe ?",
	"ページネーションの使い方を教えてください",
	"Which regions is my data stored in?",
	"How can I retry a failed export?",
)

var comments = quoteAll(
	"Clear and to the point, thanks!",
	"The example does not compile: `client.List` takes two arguments now.",
	"Please add how to do this with the CLI.",
	"Link to the limits page is broken.",
	"I could not find which role is needed for this.\nHad to ask support.",
	"The \"quickstart\" skips the login step.",
	"Great page, but a diagram would help.",
	"Outdated since v2.",
)

func quoteAll(list ...string) []string {
	for i, s := range list {
		list[i] = quote(s)
	}
	return list
}
