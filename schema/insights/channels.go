package insights

import (
	_ "embed" // embeds the tables
	"regexp"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/octavo-docs/octavo/schema/sqltree"
)

// These are the channels through which visitors come.
const (
	channelInternal = "internal"
	channelReferral = "referral"
	channelDirect   = "direct"
)

var channels = []string{channelDirect, "search", "ai", "social", "email", "paid", channelReferral, channelInternal}

// TrafficSource is a source of visitors that has several hosts or spellings.
type TrafficSource struct {
	Name, Channel string
	// Hosts has names of hosts. Their subdomains belong to the source too. Brands has names without a public suffix:
	// for example, google matches google.com and google.co.uk. Words has further values of utm_source that mean this
	// source. All texts are in lower case.
	Hosts, Brands, Words []string
}

// TrafficSources returns the table of known sources. Callers must not change it.
func TrafficSources() []TrafficSource { return trafficSources }

// sourcesTable and mediumsTable are the tables of known sources and mediums. Their first lines describe their columns.
//
//go:embed sources.txt
var sourcesTable string

//go:embed mediums.txt
var mediumsTable string

var trafficSources = func() (list []TrafficSource) {
	for _, row := range tableRows(sourcesTable, 4) {
		s := TrafficSource{Name: row[0], Channel: row[1], Words: words(row[3])}
		for _, host := range words(row[2]) {
			if brand, ok := strings.CutSuffix(host, ".*"); ok {
				s.Brands = append(s.Brands, brand)
			} else {
				s.Hosts = append(s.Hosts, host)
			}
		}
		list = append(list, s)
	}
	return list
}()

// mediums has the values of utm_medium that name a channel. mediumChannels has, at the same indexes, the channels.
var mediums, mediumChannels = func() (values, channels []string) {
	for _, row := range tableRows(mediumsTable, 2) {
		for _, value := range words(row[1]) {
			values, channels = append(values, value), append(channels, row[0])
		}
	}
	return values, channels
}()

// tableRows returns the rows of a table, without comments. Each row has `cells` cells, and the last cell may be empty.
func tableRows(table string, cells int) (rows [][]string) {
	for line := range strings.Lines(table) {
		if line = strings.TrimSpace(line); line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		row := strings.Split(line, ";")
		for i := range row {
			row[i] = strings.TrimSpace(row[i])
		}
		if len(row) == cells-1 {
			row = append(row, "")
		}
		if len(row) != cells || row[0] == "" {
			// This cannot happen, because the tables are part of the program.
			panic("a row of a table of sources: " + line)
		}
		rows = append(rows, row)
	}
	return rows
}

// words returns the words of a list in which commas separate the words.
func words(list string) (all []string) {
	for word := range strings.SplitSeq(list, ",") {
		if word = strings.TrimSpace(word); word != "" {
			all = append(all, word)
		}
	}
	return all
}

// sourceKeys finds the key of a text in the table of sources. The text is a host or a value of utm_source. The key is a
// known host that equals the text or is its end, a brand in the text, or a known word.
var sourceKeys = newSourceKeys()

type keys struct {
	pattern          string // the key is its first or its second group
	known            []string
	names, channelOf []string
}

func newSourceKeys() (k keys) {
	var hosts, brands []string
	for _, s := range trafficSources {
		for _, key := range slices.Concat(s.Hosts, s.Brands, s.Words) {
			if !slices.Contains(k.known, key) {
				k.known, k.names = append(k.known, key), append(k.names, s.Name)
				k.channelOf = append(k.channelOf, s.Channel)
			}
		}
		for _, host := range s.Hosts {
			hosts = append(hosts, regexp.QuoteMeta(host))
		}
		for _, brand := range s.Brands {
			brands = append(brands, regexp.QuoteMeta(brand))
		}
	}
	// Longer hosts come first, so that mail.google.com is not found as google.com.
	slices.SortStableFunc(hosts, func(a, b string) int { return len(b) - len(a) })
	// A known host is preferred to a brand, so its alternative comes first.
	k.pattern = `^(?:(?:[^.]+\.)*?(` + strings.Join(hosts, "|") + `)|(?:[^.]+\.)*?(` + strings.Join(brands, "|") +
		`)\.(?:com?\.)?[a-z]{2,3})$`
	return k
}

// read returns the expression for the member of `list` that belongs to a text's key. Its value is "" if the text has no
// key. Each function in this expression has the text as its only argument that is not constant. So the engine computes
// it once for each distinct text of repeatedType in a block of rows.
func (k keys) read(text sqltree.Expr, list []string) sqltree.Expr {
	pattern, groups := sqltree.Param(typeString, k.pattern), sqltree.Param(typeString, `\1\2`)
	key := sqltree.Call("replaceRegexpOne", text, pattern, groups)
	return mapped(key, k.known, list)
}

// mapped returns the expression that looks up the index of a text in `known`, and returns the member of `list` at this
// index. Its value is "" if `known` does not contain the text.
func mapped(text sqltree.Expr, known, list []string) sqltree.Expr {
	return sqltree.Call("transform", text, sqltree.Param(sqltree.ArrayOf(typeString), known),
		sqltree.Param(sqltree.ArrayOf(typeString), list), sqltree.Str(""))
}

// orNull returns the expression for a text, with null in place of "".
func orNull(text sqltree.Expr) sqltree.Expr { return sqltree.Call("nullIf", text, sqltree.Str("")) }

// lowered returns the expression for a stored text in lower case. Its type is repeatedType, also for a stored String.
// Otherwise the engine would look for the key of the text in every row.
func lowered(column string) sqltree.Expr {
	return sqltree.Call("lower", sqltree.Call("toLowCardinality", sqltree.Col(column)))
}

// origin has the texts that determine the source of an event's visitor, in lower case.
type origin struct{ referrer, source, medium sqltree.Expr }

// eventOrigin returns the expressions for the origin of an event.
func eventOrigin() origin {
	return origin{lowered(sourceColumns[0]), lowered(sourceColumns[1]), lowered(sourceColumns[2])}
}

// firstOrigin is the origin of the visitor's first event.
var firstOrigin = &SessionPart{Name: "first_origin", First: func() sqltree.Expr {
	o := eventOrigin()
	return packed(o.referrer, o.source, o.medium)
}}

// visitorOrigin returns the expressions for the origin of the first event of an event's visitor.
func visitorOrigin() origin {
	part := func(i int64) sqltree.Expr {
		return unpacked(sqltree.Col(firstOrigin.Name), i)
	}
	return origin{part(1), part(2), part(3)}
}

// own returns the condition that the referrer is one of the site's own hosts.
func (o origin) own(env Env) sqltree.Expr {
	hosts := sqltree.Param(sqltree.ArrayOf(typeString), ownHosts(env.Hosts))
	return sqltree.Bin(sqltree.In, o.referrer, hosts)
}

// ownHosts returns hosts in the form of the values of the column referrerDomain. The list is never nil.
func ownHosts(hosts []string) []string {
	list := []string{}
	for _, host := range hosts {
		list = append(list, strings.TrimPrefix(strings.ToLower(host), "www."))
	}
	return list
}

// channel returns the expression for the channel.
func (o origin) channel(env Env) sqltree.Expr {
	has := func(e, channel, otherwise sqltree.Expr) sqltree.Expr {
		return sqltree.Call("if", sqltree.Bin(sqltree.Ne, e, sqltree.Str("")), channel, otherwise)
	}
	none, referral := sqltree.Str(""), sqltree.Str(channelReferral)
	return sqltree.Call("coalesce",
		orNull(mapped(o.medium, mediums, mediumChannels)),
		orNull(sourceKeys.read(o.source, sourceKeys.channelOf)),
		orNull(has(o.source, referral, none)),
		orNull(sqltree.Call("if", o.own(env), sqltree.Str(channelInternal), none)),
		orNull(sourceKeys.read(o.referrer, sourceKeys.channelOf)),
		has(o.referrer, referral, sqltree.Str(channelDirect)))
}

// name returns the expression for the name of the source.
func (o origin) name(env Env) sqltree.Expr {
	named := sqltree.Call("coalesce", orNull(sourceKeys.read(o.referrer, sourceKeys.names)), o.referrer)
	return sqltree.Call("coalesce", orNull(sourceKeys.read(o.source, sourceKeys.names)), orNull(o.source),
		sqltree.Call("if", o.own(env), sqltree.Str(""), named))
}

// channelValue is the value of a column with channels.
type channelValue struct{ textValue }

func (channelValue) Shape() string { return "one of " + strings.Join(channels, ", ") }

func (channelValue) Parse(raw jsontext.Value) (any, error) {
	word, err := parseString(raw)
	if err == nil && !slices.Contains(channels, word) {
		err = &WordError{What: "a channel", Word: word, Known: channels}
	}
	return word, err
}

// firstDoc is the end of the documentation of columns about a visitor's first event.
const firstDoc = " The first event is looked for in the range and the 12 hours before it, whatever the " +
	"conditions are. Each visitor has exactly one, so that visitors by it add up to all visitors."

var sourceColumns = []string{"referrer_domain", "utm_source", "utm_medium"}

// channelColumns returns the columns whose values are computed from the referrer, the utm parameters of the address,
// and the site's hosts.
func channelColumns() []Column {
	return []Column{
		{
			Name: "channel", Roles: Filter | Group, Value: channelValue{}, Operators: equality,
			Privacy: Coarse, Visit: sourceColumns,
			Expr: func(_ Arguments, env Env) sqltree.Expr { return eventOrigin().channel(env) },
			Doc: "How the visitor came, by utm_medium, utm_source, and the referrer's host in a table of known " +
				"hosts: " + strings.Join(channels, ", ") + ". internal is a referrer of the site's own hosts.",
		},
		{
			Name: "sourceName", Roles: Filter | Group, Value: textValue{}, Operators: textual, Null: AsEmpty,
			Privacy: Coarse, Visit: sourceColumns[:2],
			Expr: func(_ Arguments, env Env) sqltree.Expr { return eventOrigin().name(env) },
			Doc: "Where the visitor came from: utm_source or the referrer's host, by its name in a table of known " +
				"sources, so that google.com and google.de are Google. Other sources are in lower case. " +
				`"" for none and for the site's own hosts.`,
		},
		{
			Name: "firstChannel", Roles: Filter | Group, Value: channelValue{}, Operators: equality,
			Privacy: Coarse, Session: []*SessionPart{firstOrigin},
			Expr: func(_ Arguments, env Env) sqltree.Expr { return visitorOrigin().channel(env) },
			Doc:  "How the visitor came first: the channel of the visitor's first event." + firstDoc,
		},
		{
			Name: "firstSource", Roles: Filter | Group, Value: textValue{}, Operators: textual, Null: AsEmpty,
			Privacy: Coarse, Session: []*SessionPart{firstOrigin},
			Expr: func(_ Arguments, env Env) sqltree.Expr { return visitorOrigin().name(env) },
			Doc:  "Where the visitor came from first: the sourceName of the visitor's first event." + firstDoc,
		},
	}
}
