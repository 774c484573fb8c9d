package query

import (
	"slices"
	"strings"

	"github.com/octavo-docs/octavo/schema/insights"
)

// naiveOwn are the hosts of the site in the differential test.
var naiveOwn = []string{"A.example", "www.own.example"}

// naiveKnown finds a source in the table of known sources by walking through the labels of a host.
func naiveKnown(text string) (name, channel string) {
	labels := strings.Split(text, ".")
	for i := range labels {
		rest := strings.Join(labels[i:], ".")
		for _, s := range insights.TrafficSources() {
			if slices.Contains(s.Hosts, rest) {
				return s.Name, s.Channel
			}
		}
	}
	suffix := 1
	if n := len(labels); n > 2 && (labels[n-2] == "co" || labels[n-2] == "com") {
		suffix = 2
	}
	for _, s := range insights.TrafficSources() {
		last := labels[len(labels)-1]
		letters := strings.Trim(last, "abcdefghijklmnopqrstuvwxyz") == "" && (len(last) == 2 || len(last) == 3)
		if brand := len(labels) - suffix - 1; brand >= 0 && letters && slices.Contains(s.Brands, labels[brand]) {
			return s.Name, s.Channel
		}
	}
	for _, s := range insights.TrafficSources() {
		if slices.Contains(s.Words, text) {
			return s.Name, s.Channel
		}
	}
	return "", ""
}

func naiveIsOwn(host string) bool {
	return slices.ContainsFunc(naiveOwn, func(own string) bool {
		return strings.TrimPrefix(strings.ToLower(own), "www.") == strings.ToLower(host)
	})
}

func naiveChannel(e *insights.Event) string {
	medium := strings.ToLower(e.UTMMedium)
	for word, channel := range map[string]string{
		"cpc": "paid", "paid-social": "paid", "email": "email", "newsletter": "email", "social": "social", "organic": "search",
	} {
		if medium == word {
			return channel
		}
	}
	if _, channel := naiveKnown(strings.ToLower(e.UTMSource)); channel != "" {
		return channel
	}
	switch {
	case e.UTMSource != "":
		return "referral"
	case e.ReferrerDomain == "":
		return "direct"
	case naiveIsOwn(e.ReferrerDomain):
		return "internal"
	}
	if _, channel := naiveKnown(strings.ToLower(e.ReferrerDomain)); channel != "" {
		return channel
	}
	return "referral"
}

func naiveSourceName(e *insights.Event) string {
	if name, _ := naiveKnown(strings.ToLower(e.UTMSource)); name != "" {
		return name
	}
	if e.UTMSource != "" {
		return strings.ToLower(e.UTMSource)
	}
	if naiveIsOwn(e.ReferrerDomain) {
		return ""
	}
	if name, _ := naiveKnown(strings.ToLower(e.ReferrerDomain)); name != "" {
		return name
	}
	return strings.ToLower(e.ReferrerDomain)
}
