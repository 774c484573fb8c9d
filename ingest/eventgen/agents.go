package eventgen

import "strings"

// agent is a user agent with its weight in its list, and what it is: a word of insights.AgentClasses.
type agent struct {
	weight int
	text   string
	class  string
}

// chosen is a user agent as JSON, with its class.
type chosen struct{ text, class string }

// browsers are the user agents of people.
var browsers = pool([]agent{
	{26, "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36", "person"},
	{22, "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36", "person"},
	{6, "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36", "person"},
	{8, "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/26.1 Safari/605.1.15", "person"},
	{7, "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36 Edg/142.0.0.0", "person"},
	{4, "Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:145.0) Gecko/20100101 Firefox/145.0", "person"},
	{3, "Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0", "person"},
	{3, "Mozilla/5.0 (Macintosh; Intel Mac OS X 10.15; rv:144.0) Gecko/20100101 Firefox/144.0", "person"},
	{2, "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36 OPR/125.0.0.0", "person"},
	{8, "Mozilla/5.0 (iPhone; CPU iPhone OS 18_7 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/26.1 Mobile/15E148 Safari/604.1", "person"},
	{7, "Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Mobile Safari/537.36", "person"},
	{2, "Mozilla/5.0 (iPad; CPU OS 18_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.6 Mobile/15E148 Safari/604.1", "person"},
	{1, "Mozilla/5.0 (Linux; Android 14; SM-X710) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36", "person"},
	{1, "Mozilla/5.0 (Windows NT 10.0; WOW64; Trident/7.0; rv:11.0) like Gecko", "person"},
})

// crawlers fetch pages without a person: for a search index, a model's training, a preview of a link, a check.
var crawlers = pool([]agent{
	{24, "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)", "search"},
	{12, "Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)", "search"},
	{10, "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; GPTBot/1.2; +https://openai.com/gptbot)", "training"},
	{9, "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; ClaudeBot/1.0; +claudebot@anthropic.com)", "training"},
	{4, "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_5) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/13.1.1 Safari/605.1.15 (Applebot/0.1; +http://www.apple.com/go/applebot)", "search"},
	{4, "meta-externalagent/1.1 (+https://developers.facebook.com/docs/sharing/webmasters/crawler)", "training"},
	{2, "facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)", "preview"},
	{3, "Mozilla/5.0 (compatible; Bytespider; spider-feedback@bytedance.com)", "training"},
	{2, "CCBot/2.0 (https://commoncrawl.org/faq/)", "training"},
	{3, "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; Amazonbot/0.1; +https://developer.amazon.com/support/amazonbot) Chrome/119.0.6045.214 Safari/537.36", "training"},
	{2, "DuckDuckBot/1.1; (+http://duckduckgo.com/duckduckbot.html)", "search"},
	{3, "Mozilla/5.0 (compatible; AhrefsBot/7.0; +http://ahrefs.com/robot/)", "tool"},
	{2, "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; PerplexityBot/1.0; +https://perplexity.ai/perplexitybot)", "search"},
	{2, "Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)", "preview"},
	{3, "Mozilla/5.0+(compatible; UptimeRobot/2.0; http://www.uptimerobot.com/)", "monitor"},
	{2, "lychee/0.15.1", "tool"},
	{2, "python-requests/2.32.3", "tool"},
	{6, "ExampleFetcher/3.1", "unknown"},
})

// agents fetch for a person who asked a model.
var agents = pool([]agent{
	{20, "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko); compatible; ChatGPT-User/1.0; +https://openai.com/bot", "user-asked"},
	{16, "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; Claude-User/1.0; +Claude-User@anthropic.com)", "user-asked"},
	{14, "claude-code/2.0.14 (external, cli)", "coding"},
	{10, "Cursor/1.7.28 (darwin arm64)", "coding"},
	{6, "Visual Studio Code/1.105.0 (GitHubCopilotChat/0.32.0)", "coding"},
	{5, "codex_cli_rs/0.46.0 (Mac OS 15.7.1; arm64)", "coding"},
	{4, "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; Perplexity-User/1.0; +https://perplexity.ai/perplexity-user)", "user-asked"},
	{2, "Mozilla/5.0 (compatible; MistralAI-User/1.0; +https://docs.mistral.ai/robots)", "user-asked"},
	{2, "opencode/0.15.2", "coding"},
})

// readers poll feeds.
var readers = pool([]agent{
	{3, "Feedly/1.0 (+http://www.feedly.com/fetcher.html; 12 subscribers)", "tool"},
	{2, "Mozilla/5.0 (compatible; inoreader.com; 4 subscribers)", "tool"},
	{1, "NetNewsWire (RSS Reader; https://netnewswire.com/)", "tool"},
})

var languages = spread([]agent{
	{weight: 44, text: "en-US"}, {weight: 9, text: "en-GB"}, {weight: 8, text: "de-DE"}, {weight: 7, text: "fr-FR"},
	{weight: 6, text: "ja-JP"}, {weight: 5, text: "pt-BR"}, {weight: 5, text: "es-ES"}, {weight: 5, text: "zh-CN"},
	{weight: 3, text: "ko-KR"}, {weight: 2, text: "nl-NL"}, {weight: 2, text: "pl-PL"}, {weight: 2, text: "it-IT"},
	{weight: 2, text: "en-IN"},
})

// referrers with the query that a campaign's address carries.
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

// spread repeats each JSON-quoted text by its weight, so that a uniform draw
// is a weighted one.
func spread(list []agent) []string {
	var all []string
	for _, a := range list {
		all = append(all, strings.Split(strings.Repeat(quote(a.text)+"\n", a.weight), "\n")[:a.weight]...)
	}
	return all
}

// pool is spread with the classes.
func pool(list []agent) (all []chosen) {
	for _, a := range list {
		for range a.weight {
			all = append(all, chosen{quote(a.text), a.class})
		}
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
