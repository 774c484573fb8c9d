package memory

import (
	"fmt"
	"maps"
)

// Part is a part of a node with a separate share of the memory.
type Part string

// These are the parts. System is not a process. Node and Git belong to the node's process. Each other part is a
// separate process.
const (
	System   Part = "system"   // the kernel's caches of files and programs
	Node     Part = "node"     // this process: requests, the sink, jobs
	Git      Part = "git"      // imports and exports, in this process
	Broker   Part = "kafka"    // the embedded broker
	Postgres Part = "postgres" // the embedded Postgres
	PDF      Part = "pdf"      // the renderers of PDFs
	Store    Part = "store"    // the embedded ClickHouse
)

const mib = 1 << 20

// table has the memory of each part in MiB. A part gets its minimum (`least`), plus its percentage of the memory that
// remains after the minimums of all parts. The part gets at most its maximum (`most`). If a part's share is below its
// `useful` size, the part gets the useful size or nothing. It gets the useful size if that is at most half of the
// memory that remains after the minimums. Store gets the memory that the other parts leave, but at most half of the
// budget. The percentages sum to less than 100 even if PDF takes half, so that the parts fit into each budget.
var table = []struct {
	part                         Part
	least, percent, most, useful int64
}{
	{System, 64, 10, 1024, 0},
	{Node, 96, 12, 294, 0},
	{Git, 16, 3, 128, 0},
	{Broker, 32, 3, 128, 0},
	{Postgres, 64, 6, 512, 0},
	{PDF, 0, 25, 4096, 192},
	{Store, 240, 0, 0, 0},
}

// Plan is a memory budget that Divide has divided between the parts.
type Plan struct {
	Budget int64 // bytes
	parts  map[Part]int64
}

// Of returns the bytes of a part. It returns 0 if the part does not run on this node, or if there is too little memory
// for the part.
func (p Plan) Of(part Part) int64 { return p.parts[part] }

// Each calls `each` for every part that has memory, in the table's order.
func (p Plan) Each(each func(Part, int64)) {
	for _, row := range table {
		if size := p.parts[row.part]; size > 0 {
			each(row.part, size)
		}
	}
}

// Sum returns the bytes of all parts.
func (p Plan) Sum() (sum int64) {
	for _, size := range p.parts {
		sum += size
	}
	return sum
}

// TooSmall is the error for a budget that is too small for the parts.
type TooSmall struct{ Budget, Least int64 }

func (e *TooSmall) Error() string {
	return fmt.Sprintf("%d MiB of memory are too little: the parts of this node need at least %d MiB",
		e.Budget/mib, (e.Least+mib-1)/mib)
}

// Divide divides a budget between the running parts. `given` has the parts with fixed sizes. If the budget is too
// small, the parts of the returned plan have their least sizes, and the error is a *TooSmall.
func Divide(budget int64, runs map[Part]bool, given map[Part]int64) (Plan, error) {
	p := Plan{budget, maps.Clone(given)}
	if p.parts == nil {
		p.parts = map[Part]int64{}
	}
	var least int64
	for _, row := range table {
		switch _, fixed := given[row.part]; {
		case !runs[row.part]:
			delete(p.parts, row.part)
		case !fixed:
			p.parts[row.part] = row.least * mib
		}
		least += p.parts[row.part]
	}
	left := budget - least
	if left < 0 {
		return p, &TooSmall{budget, least}
	}
	rest := left
	for _, row := range table {
		if _, fixed := given[row.part]; fixed || !runs[row.part] || row.part == Store {
			continue
		}
		size := min(row.least*mib+left/100*row.percent, row.most*mib)
		if size < row.useful*mib {
			size = 0
			if left/2 >= row.useful*mib {
				size = row.useful * mib
			}
		}
		rest -= size - p.parts[row.part]
		p.parts[row.part] = size
	}
	if _, fixed := given[Store]; runs[Store] && !fixed {
		p.parts[Store] = max(p.parts[Store], min(p.parts[Store]+rest, budget/2))
	}
	return p, nil
}

// All returns the parts of a node with all roles and embedded engines.
func All() map[Part]bool {
	all := map[Part]bool{}
	for _, row := range table {
		all[row.part] = true
	}
	return all
}

// LeastBytes returns the least budget of a node with all parts.
func LeastBytes() (sum int64) {
	for _, row := range table {
		sum += row.least * mib
	}
	return sum
}
