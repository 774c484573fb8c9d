package mergeexpr

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"unicode/utf8"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/ext"
)

// Facts are the variables of an expression.
type Facts struct {
	// Actor is the id of the user who merges.
	Actor         string
	ChangeRequest ChangeRequest
	Reviews       []Review
}

// ChangeRequest is the variable `changeRequest`.
type ChangeRequest struct {
	Number  int64  `cel:"number"`
	Status  string `cel:"status"`
	Subject string `cel:"subject"`
	// Description is the description as plain text.
	Description string `cel:"description"`
	// Author is the id of the user who created the change request.
	Author string `cel:"author"`
	// Outdated is true if the main content has changes that the change request does not have.
	Outdated bool `cel:"outdated"`
}

// Review is an entry of the variable `reviews`: a requested reviewer, or a user who has reviewed.
type Review struct {
	// User is the id of the reviewer.
	User string `cel:"user"`
	// Status is the verdict on the current content: `approved` or `changes-requested`. It is empty if there is no
	// verdict.
	Status    string `cel:"status"`
	Requested bool   `cel:"requested"`
	// Contributor is true if the reviewer wrote a part of the content.
	Contributor bool `cel:"contributor"`
}

// MaxLength bounds an expression, in characters.
const MaxLength = 1024

// These constants bound the work of an expression.
const (
	// costLimit bounds the cost that the library counts. It corresponds to a few milliseconds.
	costLimit = 100_000
	// memoryLimit bounds each value of an evaluation. The size of a value is the number of its list elements, plus a
	// tenth of the bytes of its texts. So a text may have 320 KB.
	memoryLimit = 32 << 10
	maxDepth    = 32
	// interruptEvery is the number of loop steps between two checks of the context.
	interruptEvery = 100
)

// Error is the problem of an expression. At is the number of the character, counted from 1.
type Error struct {
	Problem string
	At      int
}

func (e *Error) Error() string { return fmt.Sprintf("%s, at character %d", e.Problem, e.At) }

// Expression is a checked expression.
type Expression struct{ program cel.Program }

// environment declares the variables. It is safe for concurrent use.
var environment = sync.OnceValues(func() (*cel.Env, error) {
	request, review := reflect.TypeFor[ChangeRequest](), reflect.TypeFor[Review]()
	return cel.NewEnv(
		ext.NativeTypes(ext.ParseStructTags(true), request, review),
		ext.Strings(ext.StringsVersion(stringsVersion), ext.StringsMaxPrecision(maxPrecision)),
		boundedFunctions(),
		cel.RegexProgramSizeLimit(maxPattern),
		cel.ParserRecursionLimit(maxDepth),
		cel.Variable("actor", cel.StringType),
		cel.Variable("changeRequest", cel.ObjectType(request.String())),
		cel.Variable("reviews", cel.ListType(cel.ObjectType(review.String()))),
	)
})

// Parse checks an expression. An error about the expression is an *Error.
func Parse(text string) (*Expression, error) {
	switch {
	case utf8.RuneCountInString(text) > MaxLength:
		return nil, &Error{fmt.Sprintf("must have at most %d characters", MaxLength), MaxLength + 1}
	case strings.TrimSpace(text) == "":
		return nil, &Error{"is empty", 1}
	}
	env, err := environment()
	if err != nil {
		return nil, err
	}
	checked, issues := env.Compile(text)
	if found := issues.Errors(); len(found) > 0 {
		// The first line of the message is the problem. The other lines show its position.
		problem, _, _ := strings.Cut(strings.TrimSpace(found[0].Message), "\n")
		problem = strings.ReplaceAll(problem, " (in container '')", "")
		return nil, &Error{problem, character(text, found[0].Location.Line(), found[0].Location.Column())}
	}
	if checked.OutputType() != cel.BoolType {
		return nil, &Error{fmt.Sprintf("must be true or false, not %s", checked.OutputType()), 1}
	}
	program, err := env.Program(checked, cel.CostLimit(costLimit), cel.MemoryLimit(memoryLimit),
		cel.CustomDecoratorV2(boundedMatches), cel.OptimizeRegex(compiledMatches),
		cel.InterruptCheckFrequency(interruptEvery))
	if err != nil {
		return nil, &Error{err.Error(), 1} // a constant is unusable, such as an invalid regular expression
	}
	return &Expression{program}, nil
}

// character returns the number of the character at a line and a column. Characters and lines are counted from 1, and
// columns from 0.
func character(text string, line, column int) int {
	at := 1 + max(column, 0)
	for i, before := range strings.SplitAfter(text, "\n") {
		if i+1 >= line {
			break
		}
		at += utf8.RuneCountInString(before)
	}
	return at
}

// Evaluation evaluates the expressions of a merge. Together, they may cost at most costLimit.
type Evaluation struct {
	Facts Facts
	cost  uint64
}

// Allows evaluates an expression. It returns an error if the expression has no result: for example, because it divides
// by zero, reads an element beyond the end of a list, or costs too much, or because ctx has ended.
func (e *Evaluation) Allows(ctx context.Context, expression string) (bool, error) {
	if e.cost >= costLimit {
		return false, errors.New("the expressions cost too much together")
	}
	if err := context.Cause(ctx); err != nil {
		return false, err
	}
	parsed, err := Parse(expression)
	if err != nil {
		return false, err
	}
	facts := map[string]any{"actor": e.Facts.Actor, "changeRequest": e.Facts.ChangeRequest, "reviews": e.Facts.Reviews}
	value, details, err := parsed.program.ContextEval(ctx, facts)
	if details == nil || details.ActualCost() == nil {
		// If the cost is unknown, assume that the expression has used the whole limit.
		e.cost = costLimit
	} else {
		e.cost += *details.ActualCost()
	}
	if err != nil {
		return false, err
	}
	return value == types.True, nil
}
