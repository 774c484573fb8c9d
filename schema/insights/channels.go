package insights

import (
	_ "embed" // for the tables
	"regexp"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/octavo-docs/octavo/schema/sqltree"
)

// The channels by which visitors come.
const (
	channelInternal = "internal"
	channelReferral = "referral"
	channelDirect   = "direct"
)

var channels = []string{channelDirect, "search", "ai", "social", "email", "paid", channelReferral, channelInternal}

// TrafficSource is a source of visitors that has several hosts or spellings.
type TrafficSource struct {
	Name, Channel string
	// Hosts are hosts with their subdomains. Brands are labels before any public suffix of one or two parts: google is
	// google.com and google.co.uk. Words are other values of utm_source. All are in lower case.
	Hosts, Brands, Words []string
}

// TrafficSources returns the table of known sources. Callers must not change it.
func TrafficSources() []TrafficSource { return trafficSources }

// sourcesTable and mediumsTable are the tables of known sources and mediums. Their first lines say what they have.
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

// mediums are the values of utm_medium that name a channel, and their channels.
var mediums, mediumChannels = func() (values, channels []string) {
	for _, row := range tableRows(mediumsTable, 2) {
		for _, value := range words(row[1]) {
			values, channels = append(values, value), append(channels, row[0])
		}
	}
	return values, channels
}()

// tableRows returns the rows of a table, without comments. A row has so many cells, the last of which may be empty.
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
			panic("a row of a table of sources: " + line) // the tables are part of the program
		}
		rows = append(rows, row)
	}
	return rows
}

// words returns the words of a list.
func words(list string) (all []string) {
	for word := range strings.SplitSeq(list, ",") {
		if word = strings.TrimSpace(word); word != "" {
			all = append(all, word)
		}
	}
	return all
}

// sourceKeys finds the key of a text in the table: a known host that is the text or its end, a brand, or a word.
var sourceKeys = newSourceKeys()

type keys struct {
	host, brand      string // patterns whose first group is the key
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
	// The longest host comes first: mail.google.com is no google.com.
	slices.SortStableFunc(hosts, func(a, b string) int { return len(b) - len(a) })
	k.host = `^(?:[^.]+\.)*?(` + strings.Join(hosts, "|") + `)$`
	k.brand = `^(?:[^.]+\.)*?(` + strings.Join(brands, "|") + `)\.(?:com?\.)?[a-z]{2,3}$`
	return k
}

// read reads one of the table's lists by a text's key; "" is none.
func (k keys) read(text sqltree.Expr, list []string) sqltree.Expr {
	of := func(pattern string) sqltree.Expr {
		return orNull(sqltree.Call("extract", text, sqltree.Param(typeString, pattern)))
	}
	return mapped(sqltree.Call("coalesce", of(k.host), of(k.brand), text), k.known, list)
}

// mapped reads the member of a list that stands where the text stands in the known texts; "" is none.
func mapped(text sqltree.Expr, known, list []string) sqltree.Expr {
	return sqltree.Call("transform", text, sqltree.Param(sqltree.ArrayOf(typeString), known),
		sqltree.Param(sqltree.ArrayOf(typeString), list), sqltree.Str(""))
}

// orNull is a text, or null for "".
func orNull(text sqltree.Expr) sqltree.Expr { return sqltree.Call("nullIf", text, sqltree.Str("")) }

func lowered(column string) sqltree.Expr {
	return sqltree.Call("lower", sqltree.Call("toString", sqltree.Col(column)))
}

// ownReferrer is the condition that the event's referrer is one of the site's own hosts.
func ownReferrer(env Env) sqltree.Expr {
	hosts := sqltree.Param(sqltree.ArrayOf(typeString), ownHosts(env.Hosts))
	return sqltree.Bin(sqltree.In, lowered("referrer_domain"), hosts)
}

// ownHosts returns hosts as referrerDomain has them. The list is never nil.
func ownHosts(hosts []string) []string {
	list := []string{}
	for _, host := range hosts {
		list = append(list, strings.TrimPrefix(strings.ToLower(host), "www."))
	}
	return list
}

// channelOf reads the event's channel.
func channelOf(_ Arguments, env Env) sqltree.Expr {
	source, referrer := lowered("utm_source"), lowered("referrer_domain")
	has := func(e, channel, otherwise sqltree.Expr) sqltree.Expr {
		return sqltree.Call("if", sqltree.Bin(sqltree.Ne, e, sqltree.Str("")), channel, otherwise)
	}
	none, referral := sqltree.Str(""), sqltree.Str(channelReferral)
	return sqltree.Call("coalesce",
		orNull(mapped(lowered("utm_medium"), mediums, mediumChannels)),
		orNull(sourceKeys.read(source, sourceKeys.channelOf)),
		orNull(has(source, referral, none)),
		orNull(sqltree.Call("if", ownReferrer(env), sqltree.Str(channelInternal), none)),
		orNull(sourceKeys.read(referrer, sourceKeys.channelOf)),
		has(referrer, referral, sqltree.Str(channelDirect)))
}

// sourceNameOf reads the name of the event's source.
func sourceNameOf(_ Arguments, env Env) sqltree.Expr {
	source, referrer := lowered("utm_source"), lowered("referrer_domain")
	named := sqltree.Call("coalesce", orNull(sourceKeys.read(referrer, sourceKeys.names)), referrer)
	return sqltree.Call("coalesce", orNull(sourceKeys.read(source, sourceKeys.names)), orNull(source),
		sqltree.Call("if", ownReferrer(env), sqltree.Str(""), named))
}

// channelValue is one of the channels.
type channelValue struct{ textValue }

func (channelValue) Shape() string { return "one of " + strings.Join(channels, ", ") }

func (channelValue) Parse(raw jsontext.Value) (any, error) {
	word, err := parseString(raw)
	if err == nil && !slices.Contains(channels, word) {
		err = &WordError{What: "a channel", Word: word, Known: channels}
	}
	return word, err
}

var sourceColumns = []string{"referrer_domain", "utm_source", "utm_medium"}

// channelColumns are the columns that are read from the referrer, the tags of the address and the site's hosts.
func channelColumns() []Column {
	return []Column{
		{
			Name: "channel", Roles: Filter | Group, Value: channelValue{}, Operators: equality,
			Privacy: Coarse, Visit: sourceColumns, Expr: channelOf,
			Doc: "How the visitor came, by utm_medium, utm_source, and the referrer's host in a table of known " +
				"hosts: " + strings.Join(channels, ", ") + ". internal is a referrer of the site's own hosts.",
		},
		{
			Name: "sourceName", Roles: Filter | Group, Value: textValue{}, Operators: textual, Null: AsEmpty,
			Privacy: Coarse, Visit: sourceColumns[:2], Expr: sourceNameOf,
			Doc: "Where the visitor came from: utm_source or the referrer's host, by its name in a table of known " +
				"sources, so that google.com and google.de are Google. Other sources are in lower case. " +
				`"" for none and for the site's own hosts.`,
		},
	}
}
