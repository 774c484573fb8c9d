package chserver

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// These are the ClickHouse error codes of errors that this package raises itself.
const (
	codeUnexpectedPacket = 99
	codeUnknownType      = 50
	codeBadArguments     = 36
	codeSyntaxError      = 62
	codeNotImplemented   = 48
	codeNoSuchColumn     = 16
	codeTooManyConns     = 202
	codeMemoryLimit      = 241
	codeBadData          = 117
	codeAccessDenied     = 497
	codeAuthentication   = 516
	codeUnknown          = 1000
)

// exception is the content of an Exception packet. Its message is the engine's text without the leading "Code: N.
// DB::Exception: ".
type exception struct {
	code    int32
	name    string
	message string
}

func (e *exception) Error() string {
	return fmt.Sprintf("code: %d, message: %s", e.code, e.message)
}

// refuse builds an exception that this package raises itself, in the engine's style.
func refuse(code int32, format string, args ...any) *exception {
	return &exception{code: code, name: "DB::Exception", message: fmt.Sprintf(format, args...)}
}

var exceptionText = regexp.MustCompile(`^Code: (\d+)\. (DB::[A-Za-z]*Exception): `)

// parseException reads the engine's error text, which usually begins with "Code: N. DB::Exception: ". A text without
// this prefix becomes the message of an exception with codeUnknown.
func parseException(text string) *exception {
	text = strings.TrimSpace(text)
	match := exceptionText.FindStringSubmatch(text)
	if match == nil {
		return &exception{code: codeUnknown, name: "DB::Exception", message: text}
	}
	code, err := strconv.ParseInt(match[1], 10, 32)
	if err != nil {
		code = codeUnknown
	}
	return &exception{code: int32(code), name: match[2], message: text[len(match[0]):]}
}
