package intake

import (
	"strconv"
	"sync"
	"testing"

	"github.com/octavo-docs/octavo/schema/insights"
)

func TestAgents(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ agent, device, browser, os, bot string }{
		{"", "unknown", "unknown", "unknown", ""},
		{"\x00\xff(((;;;)/ /", "unknown", "unknown", "unknown", "unknown"},
		{"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36", "desktop", "chrome", "windows", ""},
		{"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36 Edg/126.0.2592.87", "desktop", "edge", "windows", ""},
		{"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/125.0.0.0 Safari/537.36 OPR/111.0.0.0", "desktop", "opera", "windows", ""},
		{"Mozilla/5.0 (Windows NT 10.0; WOW64; Trident/7.0; rv:11.0) like Gecko", "desktop", "ie", "windows", ""},
		{"Mozilla/5.0 (Macintosh; Intel Mac OS X 14_5) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Safari/605.1.15", "desktop", "safari", "macos", ""},
		{"Mozilla/5.0 (X11; Ubuntu; Linux x86_64; rv:127.0) Gecko/20100101 Firefox/127.0", "desktop", "firefox", "linux", ""},
		{"Mozilla/5.0 (X11; CrOS x86_64 14541.0.0) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36", "desktop", "chrome", "linux", ""},
		{"Mozilla/5.0 (Linux; Android 14; Pixel 8) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.6478.71 Mobile Safari/537.36", "mobile", "chrome", "android", ""},
		{"Mozilla/5.0 (Linux; Android 13; SM-X700) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36", "tablet", "chrome", "android", ""},
		{"Mozilla/5.0 (Linux; Android 13; CUBOT NOTE 50) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Mobile Safari/537.36", "mobile", "chrome", "android", ""},
		{"Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) CriOS/126.0.6478.35 Mobile/15E148 Safari/604.1", "mobile", "chrome", "ios", ""},
		{"Mozilla/5.0 (iPad; CPU OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Mobile/15E148 Safari/604.1", "tablet", "safari", "ios", ""},
		{"Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) CriOS/131 Version/11.1.1 Safari/605.1.15", "tablet", "chrome", "ios", ""},
		{"Mozilla/5.0 (Macintosh; Intel Mac OS X 10.15; rv:133.0) AppleWebKit/605.1.15 (KHTML, like Gecko) FxiOS/133.0 Safari/605.1.15", "tablet", "firefox", "ios", ""},
		{"Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148", "tablet", "safari", "ios", ""},
		{"Mozilla/5.0 (iPhone; CPU iPhone OS 17_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) BandFMApp/1.0.0", "mobile", "safari", "ios", ""},
		{"Opera/9.80 (Android; Opera Mini/36.2.2254/119.132; U; id) Presto/2.12.423 Version/12.16", "mobile", "opera", "android", ""},
		{"Mozilla/5.0 (SMART-TV; Linux; Tizen 7.0) AppleWebKit/537.36 (KHTML, like Gecko) 94.0.4606.31/7.0 TV Safari/537.36", "unknown", "unknown", "unknown", ""},
		{"Mozilla/5.0 (Linux; Tizen 7.0; SMART-TV) AppleWebKit/537.36 (KHTML, like Gecko) SamsungBrowser/4.0 Chrome/94 TV Safari/537.36", "unknown", "chrome", "unknown", ""},
		{"Mozilla/5.0 (Linux; Android 14; BRAVIA 4K VH22) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/120.0 Safari/537.36", "unknown", "chrome", "android", ""},
		{"Mozilla/5.0 (Linux; Android 9; AFTKA) AppleWebKit/537.36 (KHTML, like Gecko) Silk/120.1 like Chrome/120.0 Safari/537.36", "unknown", "chrome", "android", ""},
		{"Mozilla/5.0 (X11; FreeBSD amd64; rv:133.0) Gecko/20100101 Firefox/133.0", "desktop", "firefox", "linux", ""},
		{"Mozilla/5.0 (X11; OpenBSD amd64; rv:133.0) Gecko/20100101 Firefox/133.0", "desktop", "firefox", "linux", ""},
		{"Mozilla/5.0 (compatible; MSIE 9.0; Windows NT 6.1; Trident/5.0)", "desktop", "ie", "windows", ""},
		{"Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)", "unknown", "unknown", "unknown", "googlebot"},
		{"Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm) Chrome/116.0.1938.76 Safari/537.36", "unknown", "chrome", "unknown", "bingbot"},
		{"DuckDuckBot/1.1; (+http://duckduckgo.com/duckduckbot.html)", "unknown", "unknown", "unknown", "duckduckbot"},
		{"facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)", "unknown", "unknown", "unknown", "facebookbot"},
		{"curl/8.5.0", "unknown", "unknown", "unknown", "unknown"},
		{"python-requests/2.32.3", "unknown", "unknown", "unknown", "unknown"},
		{"Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) HeadlessChrome/126.0.0.0 Safari/537.36", "desktop", "chrome", "linux", "unknown"},
		{"SomethingBot/1.0 (+https://something.example)", "unknown", "unknown", "unknown", "unknown"},
	} {
		t.Run(c.agent, func(t *testing.T) {
			a := newAgents(16).find(c.agent)
			got := [4]string{insights.Devices.Word(a.device), insights.Browsers.Word(a.browser), insights.OperatingSystems.Word(a.os), insights.Bots.Word(a.bot)}
			if want := [4]string{c.device, c.browser, c.os, c.bot}; got != want {
				t.Errorf("%q is %v, want %v", c.agent, got, want)
			}
		})
	}
}

func TestBots(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, c := range []struct{ agent, bot string }{
		{"Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; GPTBot/1.2; +https://openai.com/gptbot)", "gptbot"},
		{"Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko); compatible; ChatGPT-User/1.0; +https://openai.com/bot", "chatgpt"},
		{"Mozilla/5.0 (compatible; OAI-SearchBot/1.0; +https://openai.com/searchbot)", "openai"},
		{"Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; ClaudeBot/1.0; +claudebot@anthropic.com)", "claudebot"},
		{"Mozilla/5.0 (compatible; Claude-User/1.0; +Claude-User@anthropic.com)", "claude"},
		{"Claude-SearchBot/1.0", "claude"},
		{"anthropic-ai", "anthropic"},
		{"claude-code/1.0.44", "claude-code"},
		{"claude-cli/1.0 (external, cli)", "claude-code"},
		{"Mozilla/5.0 (compatible; PerplexityBot/1.0; +https://perplexity.ai/perplexitybot)", "perplexity"},
		{"Mozilla/5.0 (compatible; Google-Extended)", "gemini"},
		{"cohere-ai", "cohere"},
		{"Mozilla/5.0 (compatible; MistralAI-User/1.0; +https://docs.mistral.ai/robots)", "mistral"},
		{"Mozilla/5.0 (compatible; DeepSeekBot/1.0)", "deepseek"},
		{"meta-externalagent/1.1 (+https://developers.facebook.com/docs/sharing/webmasters/crawler)", "meta"},
		{"meta-externalfetcher/1.1", "meta-fetcher"},
		{"meta-webindexer/1.1", "meta-webindexer"},
		{"meta-externalads/1.1", "meta-ads"},
		{"FacebookBot/1.0", "facebookbot"},
		{"Mozilla/5.0 (Linux; Android 5.0) AppleWebKit/537.36 (KHTML, like Gecko) Mobile Safari/537.36 (compatible; Bytespider; spider-feedback@bytedance.com)", "bytespider"},
		{"CCBot/2.0 (https://commoncrawl.org/faq/)", "ccbot"},
		{"Mozilla/5.0 (compatible; Amazonbot/0.1; +https://developer.amazon.com/support/amazonbot)", "amazonbot"},
		{"Mozilla/5.0 (compatible; Amzn-SearchBot/0.1)", "amzn-searchbot"},
		{"Mozilla/5.0 (compatible; Amzn-User/0.1)", "amzn-user"},
		{"Mozilla/5.0 (compatible; YouBot/1.0)", "youbot"},
		{"DuckAssistBot/1.2; (+http://duckduckgo.com/duckassistbot.html)", "duckassist"},
		{"Mozilla/5.0 (Macintosh) AppleWebKit/537.36 Cursor/0.45.11 Chrome/128 Electron/32 Safari/537.36", "cursor"},
		{"Mozilla/5.0 (Macintosh) AppleWebKit/537.36 Code/1.99.0 Chrome/132 Electron/34 Safari/537.36", "vscode"},
		{"codex_cli_rs/0.30.0", "codex"},
		{"opencode/0.5.1", "opencode"},
		{"GrokBot/1.0", "grok"},
		{"GitHub-Copilot/1.0", "github-copilot"},
		{"Mozilla/5.0 (Macintosh) AppleWebKit/605.1.15 (Applebot/0.1; +http://www.apple.com/go/applebot)", "applebot"},
		{"Googlebot-Image/1.0", "googlebot"},
		{"Mozilla/5.0 (compatible; bingbot/2.0)", "bingbot"},
		{"DuckDuckBot/1.1", "duckduckbot"},
		{"AcmeCrawler/1", "unknown"},
	} {
		t.Run(c.agent, func(t *testing.T) {
			seen[c.bot] = true
			if got := insights.Bots.Word(botOf(c.agent)); got != c.bot {
				t.Errorf("%q is %q, want %q", c.agent, got, c.bot)
			}
		})
	}
	for _, name := range insights.Bots.Words() {
		if !seen[name] {
			t.Errorf("no case for the bot %s", name)
		}
	}
}

// TestAgentCache checks that concurrent callers get correct results, and that the cache does not grow.
func TestAgentCache(t *testing.T) {
	t.Parallel()
	cache := newAgents(8)
	chrome := "Mozilla/5.0 (Windows NT 10.0) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/%d.0 Safari/537.36"
	var users sync.WaitGroup
	for u := range 4 {
		users.Go(func() {
			for i := range 500 {
				if a := cache.find(chrome + strconv.Itoa(i%50+u)); a.browser != browserChrome || a.os != osWindows || a.bot != 0 {
					t.Errorf("got %+v", a)
				}
				if a := cache.find("GPTBot/" + strconv.Itoa(i%50)); insights.Bots.Word(a.bot) != "gptbot" {
					t.Errorf("got %+v", a)
				}
			}
		})
	}
	users.Wait()
	if len(cache.slots) != 8 {
		t.Errorf("%d slots", len(cache.slots))
	}
}

func TestHosts(t *testing.T) {
	t.Parallel()
	for url, want := range map[string]string{
		"": "", "mailto:a@b.c": "", "https://www.Example.COM/x": "example.com", "http://a.b:80?x": "a.b",
		"https://u:p@h.example#f": "h.example", "https://[::1]:8080/": "[::1]", "https://www./": "www.", "https:///x": "",
		`https://a.example\@b.example/`: "a.example", "android-app://com.google": "com.google", "https://bücher.example/": "bücher.example",
	} {
		t.Run(url, func(t *testing.T) {
			var d decoder
			if got := d.host(url, true); got != want {
				t.Errorf("host of %q is %q, want %q", url, got, want)
			}
		})
	}
}

func TestCampaigns(t *testing.T) {
	t.Parallel()
	for url, want := range map[string][5]string{
		"https://a/":                               {},
		"https://a/?utm_source":                    {},
		"https://a/?UTM_SOURCE=x&utm_sourcex=y":    {},
		"https://a/#?utm_source=x":                 {}, // a "?" after "#" begins no query
		"https://a/?utm_source=x&utm_source=y":     {"x"},
		"https://a/?a=b&utm_medium=%41%2":          {1: "A%2"},
		"https://a/?utm_content=%ff&utm_term=%00+": {4: "\uFFFD", 3: "\x00 "},
	} {
		t.Run(url, func(t *testing.T) {
			var d decoder
			d.event.URL = url
			d.campaign()
			e := &d.event
			got := [5]string{e.UTMSource, e.UTMMedium, e.UTMCampaign, e.UTMTerm, e.UTMContent}
			if got != want {
				t.Errorf("campaign of %q is %q, want %q", url, got, want)
			}
		})
	}
}
