package intake

import (
	"strings"

	"github.com/octavo-docs/octavo/schema/insights"
)

// correct corrects the parser's results for devices whose user agents name a wrong system, or no system.
func (a *agent) correct(text string) {
	has := func(part string) bool { return strings.Contains(text, part) }
	if has(" Silk/") && has("Chrome/") {
		a.browser = browserChrome // the parser takes Amazon's browser for Safari
	}
	switch {
	case hasAny(text, televisions):
		// insights.Devices has no word for a television.
		a.device = deviceUnknown
		if has("Tizen") || has("Web0S") {
			a.os = osUnknown
		}
	case has("Macintosh;") && (hasAny(text, appleBrowsers) || has(" Mobile/")):
		// An iPad requests desktop pages with a Mac's user agent. The browsers in appleBrowsers exist only on iPads and
		// iPhones, and no user agent of a Mac has "Mobile". Safari on an iPad cannot be distinguished from Safari on a
		// Mac.
		a.device, a.os = deviceTablet, osIOS
	case has("Opera Mini") || has("Opera Mobi"):
		a.device = deviceMobile
	case has("(iPhone;") || has("(iPod"):
		a.device, a.os = deviceMobile, osIOS
	case a.device == deviceUnknown && has("X11;") && hasAny(text, bsds):
		a.device, a.os = deviceDesktop, osLinux
	}
}

var (
	televisions = []string{
		"SMART-TV", "SmartTV", "Smart TV", "BRAVIA", "; AFT", "GoogleTV", "Google TV", "Android TV", "AppleTV", "HbbTV",
		"Web0S", "CrKey",
	}
	appleBrowsers = []string{"CriOS/", "FxiOS/", "EdgiOS/", "OPiOS/", "OPT/"}
	bsds          = []string{"FreeBSD", "OpenBSD", "NetBSD", "DragonFly"}
)

func hasAny(text string, parts []string) bool {
	for _, part := range parts {
		if strings.Contains(text, part) {
			return true
		}
	}
	return false
}

// engineOf returns the browser whose engine a less known browser uses. Browsers with Chromium's engine count as Chrome,
// and Apple's web views count as Safari.
func engineOf(text string) insights.Code {
	switch {
	case strings.Contains(text, "Trident/"):
		return browserIE
	case strings.Contains(text, "Chrome/"), strings.Contains(text, "CriOS/"):
		return browserChrome
	case strings.Contains(text, "Firefox/"):
		return browserFirefox
	case strings.Contains(text, "AppleWebKit/") && (strings.Contains(text, "Mac OS X")):
		return browserSafari
	}
	return browserUnknown
}
