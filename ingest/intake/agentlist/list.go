package agentlist

import (
	_ "embed"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"

	"github.com/octavo-docs/octavo/schema/insights"
)

//go:embed agents.txt
var agentsText string

// Agent describes the program that a user agent names.
type Agent struct {
	Class    insights.Code // a word of insights.AgentClasses
	Operator string        // "" if it is unknown
	// Ranges is the set of addresses that the operator publishes. It is 0 if the operator publishes none.
	Ranges Set
}

// List is a list of known programs. Each row has a text, and the program whose user agent contains this text. A List
// never changes.
type List struct {
	rows []listRow
	// starts maps a hash to indexes of rows, in ascending order. The hash is computed from the first startBytes bytes
	// of a row's part.
	starts [1 << startBits][]uint16
}

type listRow struct {
	part  string // text that the user agent contains, in lower case
	exact string // the part with its exact case; "" if any case matches
	agent Agent
}

const (
	startBits  = 12
	startBytes = 3
	// Find searches only the first maxText bytes of a user agent.
	maxText = 512
)

// Embedded returns the list that is compiled into the program.
var Embedded = sync.OnceValue(func() *List {
	l, err := Parse(agentsText)
	if err != nil {
		panic("BUG: " + err.Error())
	}
	return l
})

// Parse reads a list in the format of agents.txt. Its error names the faulty line.
func Parse(text string) (*List, error) {
	l := &List{}
	number := 0
	for line := range strings.Lines(text) {
		number++
		line = strings.TrimSuffix(line, "\n")
		if line == "" || line[0] == '#' {
			continue
		}
		if err := l.add(line); err != nil {
			return nil, fmt.Errorf("line %d of the list of agents: %w", number, err)
		}
	}
	return l, nil
}

func (l *List) add(line string) error {
	fields := strings.Split(line, "\t")
	if len(fields) != 3 && len(fields) != 4 {
		return errors.New("must have a class, an operator, a part and perhaps a set of addresses")
	}
	row := listRow{part: lower(fields[2]), agent: Agent{Operator: fields[1]}}
	var ok bool
	if row.agent.Class, ok = insights.AgentClasses.Code(fields[0]); !ok {
		return fmt.Errorf("has the unknown class %q", fields[0])
	}
	if len(row.part) < startBytes {
		return fmt.Errorf("has a part of less than %d bytes", startBytes)
	}
	if row.part != fields[2] {
		row.exact = fields[2]
	}
	if len(fields) == 4 {
		if row.agent.Ranges, ok = setOf(fields[3]); !ok {
			return fmt.Errorf("has the unknown set of addresses %q", fields[3])
		}
	}
	if len(l.rows) == math.MaxUint16 {
		return errors.New("is one too many")
	}
	start := &l.starts[startOf(row.part)]
	*start = append(*start, uint16(len(l.rows)))
	l.rows = append(l.rows, row)
	return nil
}

func lower(s string) string { return string(appendLower(nil, s)) }

// appendLower appends s with its ASCII letters in lower case.
func appendLower(dst []byte, s string) []byte {
	for i := range len(s) {
		c := s[i]
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		dst = append(dst, c)
	}
	return dst
}

func startOf[T string | []byte](s T) uint32 {
	return (uint32(s[0]) | uint32(s[1])<<8 | uint32(s[2])<<16) * 0x9e3779b1 >> (32 - startBits)
}

// Find returns the agent of the first row of the list whose `part` occurs in the user agent `text`. If the row has
// `exact`, this text must occur in its exact case. Find searches only the first maxText bytes, and allocates no memory.
func (l *List) Find(text string) (agent Agent, found bool) {
	var room [maxText]byte
	if len(text) > maxText {
		text = text[:maxText]
	}
	low := appendLower(room[:0], text)
	first := len(l.rows)
	for i := 0; i+startBytes <= len(low); i++ {
		for _, at := range l.starts[startOf(low[i:])] {
			if int(at) >= first {
				break
			}
			row := &l.rows[at]
			if !hasPrefix(low[i:], row.part) || row.exact != "" && !strings.HasPrefix(text[i:], row.exact) {
				continue
			}
			first = int(at)
			break
		}
	}
	if first == len(l.rows) {
		return Agent{}, false
	}
	return l.rows[first].agent, true
}

func hasPrefix(text []byte, prefix string) bool {
	return len(text) >= len(prefix) && string(text[:len(prefix)]) == prefix
}
