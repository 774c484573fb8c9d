package frame

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"html/template"
	"net/http"
	"reflect"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/valyala/fasthttp"

	"github.com/octavo-docs/octavo/schema"
)

// Redirect is the response type of operations that redirect a browser. The status of such an operation is 302, or 303
// if it answers a form.
type Redirect struct {
	// To is the absolute address of the redirect's target. If it comes from the caller, the function must check it.
	To      string
	Cookies []*http.Cookie
}

// Page is the response type of operations that people see in a browser. If the caller accepts HTML, errors of these
// operations are pages as well.
type Page struct {
	Title string
	// Body is the content after the title. Texts from users must be escaped by html/template.
	Body template.HTML
	// If To is set, the browser gets a redirect to it with 303 instead of the page. The row must have Redirects set.
	To      string
	Cookies []*http.Cookie
}

const mediaHTML = "text/html; charset=utf-8"

// forBrowsers reports whether people see the operation's answers in a browser.
func (op *Operation) forBrowsers() bool {
	return op.Handler.Response == reflect.TypeFor[Page]() || op.Handler.Response == reflect.TypeFor[Redirect]()
}

// acceptsPage reports whether a refusal may be an HTML page. Only browsers accept HTML explicitly.
func acceptsPage(ctx *fasthttp.RequestCtx) bool {
	return bytes.Contains(ctx.Request.Header.Peek("Accept"), []byte("text/html"))
}

func writeRedirect(ctx *fasthttp.RequestCtx, status int, r Redirect) {
	setCookies(ctx, r.Cookies)
	pageHeaders(ctx)
	ctx.Response.Header.Set("Location", r.To)
	ctx.SetStatusCode(status)
}

func writePage(ctx *fasthttp.RequestCtx, op *Operation, p Page) error {
	if p.To != "" {
		if !op.Redirects {
			return schema.Internal(errors.New("the row does not say that its page redirects"))
		}
		writeRedirect(ctx, http.StatusSeeOther, Redirect{To: p.To, Cookies: p.Cookies})
		return nil
	}
	setCookies(ctx, p.Cookies)
	ctx.SetStatusCode(op.Status)
	return renderPage(ctx, layoutFill{Title: p.Title, Body: p.Body})
}

func setCookies(ctx *fasthttp.RequestCtx, cookies []*http.Cookie) {
	for _, cookie := range cookies {
		ctx.Response.Header.Add("Set-Cookie", cookie.String())
	}
}

// writeErrorPage replaces the JSON body of an error by a page. The status and the headers that writeError has set stay.
func writeErrorPage(ctx *fasthttp.RequestCtx, e *schema.Error, requestID string) {
	fill := layoutFill{Title: strconv.Itoa(int(e.Code)) + " " + http.StatusText(int(e.Code)), Message: sentence(e), RequestID: requestID}
	if len(e.Details) > 1 { // The message already has the first detail.
		for _, d := range e.Details {
			fill.Details = append(fill.Details, strings.TrimSpace(d.Field+" "+d.Problem))
		}
	}
	ctx.Response.ResetBody()
	// Rendering cannot fail, because the template is constant and its values are texts.
	_ = renderPage(ctx, fill)
}

// sentence formats a message as a sentence. It capitalizes the first character, except in a message that begins with
// the name of a member.
func sentence(e *schema.Error) string {
	message := e.Message
	if first, size := utf8.DecodeRuneInString(message); len(e.Details) == 0 {
		message = string(unicode.ToUpper(first)) + message[size:]
	}
	if !strings.HasSuffix(message, ".") {
		message += "."
	}
	return message
}

// pageHeaders sets the headers of every page that a browser displays. The browser must not cache the page, frame it,
// load anything except our style sheet, or send the page's address to other sites.
func pageHeaders(ctx *fasthttp.RequestCtx) {
	header := &ctx.Response.Header
	header.SetCanonical(headerContentTypeOptions, noSniff)
	header.SetCanonical(headerCacheControl, noStore)
	header.Set("Content-Security-Policy", pagePolicy)
	header.Set("X-Frame-Options", "DENY")
	header.Set("Referrer-Policy", "no-referrer")
}

type layoutFill struct {
	Title     string
	Body      template.HTML
	Message   string
	Details   []string
	RequestID string
}

func renderPage(ctx *fasthttp.RequestCtx, fill layoutFill) error {
	pageHeaders(ctx)
	ctx.SetContentType(mediaHTML)
	if err := layout.Execute(ctx.Response.BodyWriter(), fill); err != nil {
		return schema.Internal(err)
	}
	return nil
}

const pageStyle = `body{font:16px/1.5 system-ui,sans-serif;max-width:40rem;margin:4rem auto;padding:0 1rem;color:#1c2024}` +
	`h1{font-size:1.4rem}input,textarea,code{font:14px/1.5 ui-monospace,monospace;width:100%;box-sizing:border-box;overflow-wrap:anywhere}` +
	`button{font:inherit;padding:.4rem 1rem}small{color:#60646c}`

var pagePolicy = func() string {
	sum := sha256.Sum256([]byte(pageStyle))
	return "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) +
		"'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
}()

var layout = template.Must(template.New("page").Parse(`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<meta name="robots" content="noindex"><title>{{.Title}}</title><style>` + pageStyle + `</style></head>
<body><h1>{{.Title}}</h1>
{{with .Message}}<p>{{.}}</p>{{end}}{{with .Details}}<ul>{{range .}}<li>{{.}}</li>{{end}}</ul>{{end}}
{{.Body}}{{with .RequestID}}<p><small>Request {{.}}</small></p>{{end}}
</body></html>
`))
