package docs

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

// writer writes a request in a programming language.
type writer struct {
	// ID is the language's name in the page, and Fence is its name in Markdown.
	ID, Title, Fence string
	write            func(*request) string
}

// writers has the languages of the example requests.
var writers = []writer{
	{"curl", "curl", "sh", curl},
	{"js", "JavaScript", "js", javaScript},
	{"go", "Go", "go", goCode},
	{"python", "Python", "python", python},
}

// joined returns the code for an address. `text` and `variable` return the code for a piece of each kind, and `glue` is
// the code between two pieces.
func joined(pieces []piece, text, variable func(string) string, glue string) string {
	parts := make([]string, len(pieces))
	for i, p := range pieces {
		if parts[i] = text(p.Text); p.Variable {
			parts[i] = variable(p.Text)
		}
	}
	return strings.Join(parts, glue)
}

func plain(s string) string { return s }

func curl(r *request) string {
	lines := []string{`"$OCTAVO_URL` + joined(r.target(), plain, func(s string) string { return "$" + s }, "") + `"`}
	if usual := r.Method == http.MethodGet || r.Method == http.MethodPost && r.Body != ""; !usual {
		lines[0] = "-X " + r.Method + " " + lines[0]
	}
	if r.Token {
		lines = append(lines, `-H "Authorization: Bearer $OCTAVO_TOKEN"`)
	}
	if r.Body != "" {
		if r.Media == "application/json" {
			lines = append(lines, `-H "Content-Type: application/json"`)
		}
		lines = append(lines, "-d '"+strings.ReplaceAll(r.Body, "'", `'\''`)+"'")
	}
	return "curl -s " + strings.Join(lines, " \\\n  ")
}

// javaScript returns the request as code for the published client. The code calls the client's method for the
// operation, or the client's function request if there is no method. The client cannot call operations that are not
// below /v1, so their code calls fetch.
func javaScript(r *request) string {
	if !r.V1 {
		return javaScriptFetch(r)
	}
	b := "import { GitBookAPI } from '@gitbook/api';\n\nconst api = new GitBookAPI({\n" +
		"  endpoint: process.env.OCTAVO_URL,\n  authToken: process.env.OCTAVO_TOKEN,\n});\n"
	given := ""
	if r.Answers && r.JSON {
		given = "const { data } = "
	} else if r.Answers {
		given = "const response = "
	}
	b += given + "await "
	if r.Call != "" {
		return b + "api." + javaScriptCall(r) + ";"
	}
	b += "api.request({\n  path: " + pathLiteral(r.Path, "/v1") + ",\n  method: '" + r.Method + "',\n"
	if r.Query != "" {
		b += "  query: " + queryObject(r.Query) + ",\n"
	}
	if r.Body != "" {
		b += "  type: '" + r.Media + "',\n  body: " + indented(r.javaScriptBody(), "  ") + ",\n"
	}
	if r.Token {
		b += "  secure: true,\n"
	}
	if r.JSON {
		b += "  format: 'json',\n"
	}
	return b + "});"
}

// javaScriptCall returns the call of the client's method with its arguments: the path's parameters, the query, and the
// body.
func javaScriptCall(r *request) string {
	name, arguments, _ := strings.Cut(strings.TrimSuffix(r.Call, ")"), "(")
	var values []string
	for argument := range strings.SplitSeq(arguments, ", ") {
		switch {
		case argument == "":
		case argument == "query":
			values = append(values, queryObject(r.Query))
		case argument == "data" && r.Body == "":
			values = append(values, "{}")
		case argument == "data":
			values = append(values, r.javaScriptBody())
		case variables[argument] != "":
			values = append(values, "process.env."+variables[argument])
		default:
			values = append(values, "'"+placeholder(argument)+"'")
		}
	}
	if len(values) > 0 && values[len(values)-1] == "{}" {
		values = values[:len(values)-1] // The client's arguments after the path parameters are optional.
	}
	return name + "(" + strings.Join(values, ", ") + ")"
}

func javaScriptFetch(r *request) string {
	b := "const response = await fetch(" + pathLiteral(r.target(), "") + ", {\n  method: '" + r.Method + "',\n"
	b = strings.Replace(b, "fetch(`", "fetch(`${process.env.OCTAVO_URL}", 1)
	b = strings.Replace(b, "fetch('", "fetch(process.env.OCTAVO_URL + '", 1)
	if r.Token {
		b += "  headers: { Authorization: `Bearer ${process.env.OCTAVO_TOKEN}` },\n"
	}
	if r.Body != "" {
		b += "  body: " + quoted(r.Body) + ",\n"
	}
	return b + "});"
}

// javaScriptBody returns the body as an expression of JavaScript. JSON is such an expression.
func (r *request) javaScriptBody() string {
	if r.Media == "application/json" {
		return r.Body
	}
	return quoted(r.Body)
}

// quoted returns a text as a literal that means the same in Go, JavaScript and Python.
func quoted(s string) string { return strconv.Quote(s) }

// pathLiteral returns a path, without the prefix, as a literal of JavaScript.
func pathLiteral(pieces []piece, prefix string) string {
	text := joined(pieces, plain, func(s string) string { return "${process.env." + s + "}" }, "")
	text = strings.TrimPrefix(text, prefix)
	if strings.Contains(text, "${") {
		return "`" + text + "`"
	}
	return "'" + text + "'"
}

// queryObject returns a query string as an object of JavaScript.
func queryObject(query string) string {
	if query == "" {
		return "{}"
	}
	var members []string
	for pair := range strings.SplitSeq(query, "&") {
		name, value, _ := strings.Cut(pair, "=")
		members = append(members, fmt.Sprintf("'%s': %s", name, quoted(value)))
	}
	return "{ " + strings.Join(members, ", ") + " }"
}

func indented(text, by string) string { return strings.ReplaceAll(text, "\n", "\n"+by) }

func goCode(r *request) string {
	body := "nil"
	var b strings.Builder
	if r.Body != "" {
		literal := "`" + r.Body + "`"
		if strings.Contains(r.Body, "`") {
			literal = strconv.Quote(r.Body)
		}
		fmt.Fprintf(&b, "body := strings.NewReader(%s)\n", literal)
		body = "body"
	}
	address := `os.Getenv("OCTAVO_URL")+` +
		joined(r.target(), strconv.Quote, func(s string) string { return `os.Getenv("` + s + `")` }, "+")
	const fails = "if err != nil {\n\treturn err\n}\n"
	fmt.Fprintf(&b, "request, err := http.NewRequest(%q, %s, %s)\n%s", r.Method, address, body, fails)
	if r.Token {
		b.WriteString("request.Header.Set(\"Authorization\", \"Bearer \"+os.Getenv(\"OCTAVO_TOKEN\"))\n")
	}
	if r.Body != "" {
		fmt.Fprintf(&b, "request.Header.Set(\"Content-Type\", %q)\n", r.Media)
	}
	b.WriteString("answer, err := http.DefaultClient.Do(request)\n" + fails + "defer answer.Body.Close()\n")
	if !r.Answers {
		b.WriteString("fmt.Println(answer.Status)\nreturn nil")
		return b.String()
	}
	b.WriteString("_, err = io.Copy(os.Stdout, answer.Body)\nreturn err")
	return b.String()
}

func python(r *request) string {
	address := joined(r.target(), plain, func(s string) string { return "{os.environ['" + s + "']}" }, "")
	var b strings.Builder
	b.WriteString("import os, urllib.request\n\nrequest = urllib.request.Request(\n")
	fmt.Fprintf(&b, "    f\"{os.environ['OCTAVO_URL']}%s\",\n    method=%q,\n", address, r.Method)
	var headers []string
	if r.Token {
		headers = append(headers, `"Authorization": f"Bearer {os.environ['OCTAVO_TOKEN']}"`)
	}
	if r.Body != "" {
		headers = append(headers, fmt.Sprintf(`"Content-Type": %q`, r.Media))
	}
	if len(headers) > 0 {
		fmt.Fprintf(&b, "    headers={%s},\n", strings.Join(headers, ", "))
	}
	if r.Body != "" {
		fmt.Fprintf(&b, "    data=%s.encode(),\n", pythonText(r.Body))
	}
	b.WriteString(")\nwith urllib.request.urlopen(request) as answer:\n")
	if r.Answers {
		b.WriteString("    print(answer.read().decode())")
	} else {
		b.WriteString("    print(answer.status)")
	}
	return b.String()
}

// pythonText returns a text as a literal of Python. A text of several lines becomes a raw string, which is easier to
// read.
func pythonText(s string) string {
	raw := strings.ContainsAny(s, "\n\"") && !strings.Contains(s, `"""`) && !strings.HasSuffix(s, `"`)
	if !raw {
		return quoted(s)
	}
	return `r"""` + s + `"""`
}
