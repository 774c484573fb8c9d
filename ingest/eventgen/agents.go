package eventgen

import (
	"slices"
	"strings"
)

// agent is a user agent with its weight in its list.
type agent struct {
	weight int
	text   string
}

// chosen is a user agent as a JSON string, with its class. The class is a word of insights.AgentClasses.
type chosen struct{ text, class string }

// browsers are the user agents of people's browsers.
var browsers = ofClass("person", []agent{
	{26, "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36"},
	{22, "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36"},
	{6, "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36"},
	{8, "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/26.1 Safari/605.1.15"},
	{7, "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36 Edg/142.0.0.0"},
	{4, "Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:145.0) Gecko/20100101 Firefox/145.0"},
	{3, "Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0"},
	{3, "Mozilla/5.0 (Macintosh; Intel Mac OS X 10.15; rv:144.0) Gecko/20100101 Firefox/144.0"},
	{2, "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36 OPR/125.0.0.0"},
	{8, "Mozilla/5.0 (iPhone; CPU iPhone OS 18_7 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/26.1 Mobile/15E148 Safari/604.1"},
	{7, "Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Mobile Safari/537.36"},
	{2, "Mozilla/5.0 (iPad; CPU OS 18_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.6 Mobile/15E148 Safari/604.1"},
	{1, "Mozilla/5.0 (Linux; Android 14; SM-X710) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36"},
	{1, "Mozilla/5.0 (Windows NT 10.0; WOW64; Trident/7.0; rv:11.0) like Gecko"},
})

// crawlers are the user agents of programs that fetch pages without a person: for a search index, for a model's
// training, for the preview of a link, or for a check.
var crawlers = slices.Concat(
	ofClass("search", []agent{
		{24, "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)"},
		{12, "Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)"},
		{4, "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_5) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/13.1.1 Safari/605.1.15 (Applebot/0.1; +http://www.apple.com/go/applebot)"},
		{2, "DuckDuckBot/1.1; (+http://duckduckgo.com/duckduckbot.html)"},
		{2, "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; PerplexityBot/1.0; +https://perplexity.ai/perplexitybot)"},
	}),
	ofClass("training", []agent{
		{10, "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; GPTBot/1.2; +https://openai.com/gptbot)"},
		{9, "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; ClaudeBot/1.0; +claudebot@anthropic.com)"},
		{4, "meta-externalagent/1.1 (+https://developers.facebook.com/docs/sharing/webmasters/crawler)"},
		{3, "Mozilla/5.0 (compatible; Bytespider; spider-feedback@bytedance.com)"},
		{2, "CCBot/2.0 (https://commoncrawl.org/faq/)"},
		{3, "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; Amazonbot/0.1; +https://developer.amazon.com/support/amazonbot) Chrome/119.0.6045.214 Safari/537.36"},
	}),
	ofClass("preview", []agent{
		{2, "facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)"},
		{2, "Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)"},
	}),
	ofClass("tool", []agent{
		{3, "Mozilla/5.0 (compatible; AhrefsBot/7.0; +http://ahrefs.com/robot/)"},
		{2, "lychee/0.15.1"},
		{2, "python-requests/2.32.3"},
	}),
	ofClass("monitor", []agent{
		{3, "Mozilla/5.0+(compatible; UptimeRobot/2.0; http://www.uptimerobot.com/)"},
	}),
	ofClass("unknown", []agent{
		{6, "ExampleFetcher/3.1"},
	}),
)

// agents are the user agents of AI models that fetch pages for a person.
var agents = slices.Concat(
	ofClass("user-asked", []agent{
		{20, "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko); compatible; ChatGPT-User/1.0; +https://openai.com/bot"},
		{
			16, "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; Claude-User/1.0; " +
				"+Claude-User@anthropic.com)",
		},
		{4, "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; Perplexity-User/1.0; +https://perplexity.ai/perplexity-user)"},
		{2, "Mozilla/5.0 (compatible; MistralAI-User/1.0; +https://docs.mistral.ai/robots)"},
	}),
	ofClass("coding", []agent{
		{14, "claude-code/2.0.14 (external, cli)"},
		{10, "Cursor/1.7.28 (darwin arm64)"},
		{6, "Visual Studio Code/1.105.0 (GitHubCopilotChat/0.32.0)"},
		{5, "codex_cli_rs/0.46.0 (Mac OS 15.7.1; arm64)"},
		{2, "opencode/0.15.2"},
	}),
)

// readers are the user agents of programs that poll feeds.
var readers = ofClass("tool", []agent{
	{3, "Feedly/1.0 (+http://www.feedly.com/fetcher.html; 12 subscribers)"},
	{2, "Mozilla/5.0 (compatible; inoreader.com; 4 subscribers)"},
	{1, "NetNewsWire (RSS Reader; https://netnewswire.com/)"},
})

var languages = spread([]agent{
	{44, "en-US"}, {9, "en-GB"}, {8, "de-DE"}, {7, "fr-FR"}, {6, "ja-JP"}, {5, "pt-BR"}, {5, "es-ES"}, {5, "zh-CN"},
	{3, "ko-KR"}, {2, "nl-NL"}, {2, "pl-PL"}, {2, "it-IT"}, {2, "en-IN"},
})

// referrers are the referrers of visits. `mark` is the query string that a campaign adds to the page's address.
var referrers = []struct {
	weight         int
	referrer, mark string
}{
	{34, `""`, ""},
	{34, `"https://www.google.com/"`, ""},
	{5, `"https://www.bing.com/"`, ""},
	{4, `"https://duckduckgo.com/"`, ""},
	{6, `"https://github.com/example/sdk-go"`, ""},
	{4, `"https://stackoverflow.com/questions/78123456/how-to-paginate"`, ""},
	{3, `"https://chatgpt.com/"`, "?utm_source=chatgpt.com"},
	{3, `"https://news.ycombinator.com/"`, ""},
	{4, `null`, "?utm_source=newsletter&utm_medium=email&utm_campaign=2026-11-release&utm_content=hero"},
	{3, `"https://www.google.com/"`, "?utm_source=google&utm_medium=cpc&utm_campaign=brand&utm_term=example+docs"},
	{2, `"https://www.linkedin.com/"`, "?utm_source=linkedin&utm_medium=social&utm_campaign=launch-week"},
}

// spread repeats each JSON-quoted text by its weight. So a uniform choice from the result is a weighted choice.
func spread(list []agent) []string {
	var all []string
	for _, a := range list {
		all = append(all, strings.Split(strings.Repeat(quote(a.text)+"\n", a.weight), "\n")[:a.weight]...)
	}
	return all
}

// ofClass is like spread. It also sets the class of each user agent.
func ofClass(class string, list []agent) (all []chosen) {
	for _, text := range spread(list) {
		all = append(all, chosen{text, class})
	}
	return all
}

var arrivals = func() (all []int) {
	for i, r := range referrers {
		for range r.weight {
			all = append(all, i)
		}
	}
	return all
}()
