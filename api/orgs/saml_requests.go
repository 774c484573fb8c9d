package orgs

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/octavo-docs/octavo/api/saml"
)

const (
	// samlCookie is the name of the cookie that binds a login to the browser that started it. Without the cookie, a
	// page could log its visitor in as another user.
	samlCookie = "octavo_sso"
	// samlRequestLife is the time in which the user must log in at the identity provider.
	samlRequestLife = 10 * time.Minute
	// mostSAMLRequests is the largest number of unfinished logins of one browser at one provider, for example in
	// several tabs.
	mostSAMLRequests = 4
)

// samlRequest is a login that a browser has started and not finished. The server does not store it: the browser has it
// in a signed cookie.
type samlRequest struct {
	ID       string `json:"i"`
	Ends     int64  `json:"e"`
	ReturnTo string `json:"r,omitzero"`
}

// samlRequests reads and writes the cookie with the unfinished logins at one provider.
type samlRequests struct {
	key      []byte
	provider string
}

func (s samlRequests) sign(body string) string {
	mac := hmac.New(sha256.New, s.key)
	_, _ = mac.Write([]byte(s.provider + "\x00" + body)) // Write of a hash never returns an error.
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// read returns the unfinished logins in a cookie. It ignores entries that have expired or have no valid signature.
func (s samlRequests) read(cookie string, now time.Time) []samlRequest {
	var open []samlRequest
	for part := range strings.SplitSeq(cookie, "~") {
		body, mac, _ := strings.Cut(part, ".")
		text, err := base64.RawURLEncoding.DecodeString(body)
		if err != nil || !hmac.Equal([]byte(s.sign(body)), []byte(mac)) {
			continue
		}
		var request samlRequest
		if json.Unmarshal(text, &request) == nil && now.Unix() < request.Ends {
			open = append(open, request)
		}
		if len(open) == mostSAMLRequests {
			break
		}
	}
	return open
}

// cookie returns the cookie with the unfinished logins, the newest first. An identity provider answers with a form from
// another site, and the browser must send the cookie with this form. Browsers allow such a cookie only with https.
// `acs` is the address to which the form is posted. It determines the path of the cookie.
func (s samlRequests) cookie(open []samlRequest, acs string) (*http.Cookie, error) {
	address, err := url.Parse(acs)
	if err != nil {
		return nil, err
	}
	// The browser also sends the cookie to the address that starts a login, because `start` adds a request to it.
	cookie := &http.Cookie{Name: samlCookie, Path: strings.TrimSuffix(address.EscapedPath(), "/acs"), HttpOnly: true, MaxAge: int(samlRequestLife.Seconds())}
	if address.Scheme == "https" {
		cookie.Secure, cookie.SameSite = true, http.SameSiteNoneMode
	}
	var parts []string
	for _, request := range open[:min(len(open), mostSAMLRequests)] {
		text, err := json.Marshal(request)
		if err != nil {
			return nil, err
		}
		body := base64.RawURLEncoding.EncodeToString(text)
		parts = append(parts, body+"."+s.sign(body))
	}
	if cookie.Value = strings.Join(parts, "~"); cookie.Value == "" {
		cookie.MaxAge = -1
	}
	return cookie, nil
}

func newSAMLRequest(returnTo string, now time.Time) samlRequest {
	return samlRequest{ID: saml.NewRequestID(), Ends: now.Add(samlRequestLife).Unix(), ReturnTo: returnTo}
}
