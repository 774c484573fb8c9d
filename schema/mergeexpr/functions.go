package mergeexpr

import (
	"fmt"
	"regexp"
	"strings"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/functions"
	"cel.dev/cel-go/common/overloads"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/common/types/traits"
	"cel.dev/cel-go/interpreter"
)

// These are the bounds of a single call. They are needed because the library checks the size of a value only after the
// call that made it.
const (
	stringsVersion = 4
	// maxPrecision bounds the digits that `format` writes for a number.
	maxPrecision = 20
	// maxText bounds the results of `replace` and `join`, in bytes. A result can be as long as the product of the
	// lengths of the arguments.
	maxText = 10 * memoryLimit
	// maxPattern bounds the instructions of a compiled regular expression. maxMatched bounds the bytes of the text in
	// which an expression searches.
	maxPattern = 1000
	maxMatched = 64 << 10
)

// boundedFunctions replaces functions of the library. A single call of these functions can cost much more than its
// arguments suggest.
func boundedFunctions() cel.EnvOption {
	text, texts := cel.StringType, cel.ListType(cel.StringType)
	all, some := []*cel.Type{text, text, text}, []*cel.Type{text, text, text, cel.IntType}
	bound := cel.FunctionBinding(replace)
	options := []cel.EnvOption{
		cel.Function("replace",
			cel.MemberOverload("string_replace_string_string", all, text, bound),
			cel.MemberOverload("string_replace_string_string_int", some, text, bound)),
		cel.Function("join",
			cel.MemberOverload("list_join_string", []*cel.Type{texts, text}, text, cel.BinaryBinding(join))),
	}
	return func(env *cel.Env) (*cel.Env, error) {
		var err error
		for _, option := range options {
			if env, err = option(env); err != nil {
				return nil, err
			}
		}
		return env, nil
	}
}

func replace(args ...ref.Val) ref.Val {
	text, from, to := string(args[0].(types.String)), string(args[1].(types.String)), string(args[2].(types.String))
	times := strings.Count(text, from)
	if len(args) == 4 {
		if most := args[3].(types.Int); most >= 0 {
			times = int(min(types.Int(times), most))
		}
	}
	if len(text)+times*(len(to)-len(from)) > maxText {
		return tooLong("replace")
	}
	return types.String(strings.Replace(text, from, to, times))
}

func join(list, separator ref.Val) ref.Val {
	var texts []string
	between, length := string(separator.(types.String)), 0
	for it := list.(traits.Lister).Iterator(); it.HasNext() == types.True; {
		text, ok := it.Next().(types.String)
		if !ok {
			return types.NewErr("join takes a list of texts")
		}
		texts = append(texts, string(text))
		if length += len(text) + len(between); length > maxText+len(between) {
			return tooLong("join")
		}
	}
	return types.String(strings.Join(texts, between))
}

// boundedMatches replaces calls of the library's function `matches`. It replaces calls and not the declaration, because
// all overloads of `matches` share one binding.
func boundedMatches(step interpreter.InterpretableV2) (interpreter.InterpretableV2, error) {
	call, ok := step.(interpreter.InterpretableCall)
	if !ok || call.Function() != overloads.Matches {
		return step, nil
	}
	return calling(call, func(args ...ref.Val) ref.Val {
		pattern, ok := args[1].(types.String)
		if !ok {
			return types.MaybeNoSuchOverloadErr(args[1])
		}
		compiled, err := regexp.Compile(string(pattern))
		if err != nil {
			return types.WrapErr(err)
		}
		return match(compiled, args[0])
	}), nil
}

// calling returns a call with the same arguments that calls another function.
func calling(call interpreter.InterpretableCall, function functions.FunctionOp) interpreter.InterpretableCall {
	return interpreter.NewCall(call.ID(), call.Function(), call.OverloadID(), call.Args(), function)
}

func match(pattern *regexp.Regexp, text ref.Val) ref.Val {
	s, ok := text.(types.String)
	if !ok {
		return types.MaybeNoSuchOverloadErr(text)
	}
	if len(s) > maxMatched {
		return types.NewErr("matches reads at most %d bytes of text", maxMatched)
	}
	return types.Bool(pattern.MatchString(string(s)))
}

// compiledMatches compiles a constant pattern once for all calls.
var compiledMatches = &interpreter.RegexOptimization{
	Function: overloads.Matches, RegexIndex: 1,
	Factory: func(call interpreter.InterpretableCall, pattern string) (interpreter.InterpretableCall, error) {
		compiled, err := regexp.Compile(pattern)
		if err != nil {
			return nil, err
		}
		return calling(call, func(args ...ref.Val) ref.Val { return match(compiled, args[0]) }), nil
	},
}

func tooLong(function string) ref.Val {
	return types.NewErr("%s", fmt.Sprintf("%s makes a text of more than %d bytes", function, maxText))
}
