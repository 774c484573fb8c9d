package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"strings"

	"github.com/alecthomas/kong"
)

// secretFiles adds a second flag for every flag that is tagged as a secret. The second flag names a file with the
// secret: --token gets --token-file and OCTAVO_TOKEN_FILE. "-" means standard input. Any user of the machine can read
// the arguments of a process, but not its files or its environment.
//
// A flag's value on the command line takes precedence over its file. The file takes precedence over the environment
// variable.
type secretFiles struct {
	stdin io.Reader
	used  bool // whether standard input was read, which is possible only once
	files map[*kong.Value]*kong.Flag
}

// secretFilePlaceHolder distinguishes the added flags from other flags.
const secretFilePlaceHolder = "PATH"

// maxSecret bounds the bytes that are read, in case a flag names a wrong file.
const maxSecret = 64 << 10

func newSecretFiles(stdin io.Reader) *secretFiles {
	return &secretFiles{stdin: stdin, files: map[*kong.Value]*kong.Flag{}}
}

func (s *secretFiles) addFlags(k *kong.Kong) error {
	text := kong.NewRegistry().RegisterDefaults().ForType(reflect.TypeFor[string]())
	return kong.Visit(k.Model, func(at kong.Visitable, next kong.Next) error {
		var node *kong.Node
		switch at := at.(type) {
		case *kong.Application:
			node = at.Node
		case *kong.Node:
			node = at
		default:
			return next(nil)
		}
		for _, flag := range node.Flags {
			if !flag.Tag.Has("secret") {
				continue
			}
			var envs []string
			for _, name := range flag.Tag.Envs {
				envs = append(envs, name+"_FILE")
			}
			help := "File to read --" + flag.Name + " from; - is standard input."
			file := &kong.Flag{
				Value: &kong.Value{
					Name: flag.Name + "-file", Help: help, OrigHelp: help, Mapper: text,
					Tag: &kong.Tag{Envs: envs}, Target: reflect.New(reflect.TypeFor[string]()).Elem(),
				},
				Group: flag.Group, PlaceHolder: secretFilePlaceHolder, Envs: envs,
			}
			file.Flag = file
			s.files[flag.Value] = file
			node.Flags = append(node.Flags, file)
		}
		return next(nil)
	})
}

// Validate implements kong.Resolver.
func (s *secretFiles) Validate(*kong.Application) error { return nil }

// Resolve implements kong.Resolver. kong calls it for flags that are not on the
// command line.
func (s *secretFiles) Resolve(ctx *kong.Context, _ *kong.Path, flag *kong.Flag) (any, error) {
	file, ok := s.files[flag.Value]
	if !ok {
		return nil, nil
	}
	var path string
	onCommandLine := false
	for _, p := range ctx.Path {
		onCommandLine = onCommandLine || p.Flag == file
	}
	if onCommandLine {
		path, _ = ctx.FlagValue(file).(string)
	} else {
		path = file.Target.String() // the value of the environment variable that ends with _FILE
	}
	if path == "" {
		return nil, nil
	}
	if !onCommandLine {
		for _, name := range flag.Tag.Envs {
			if os.Getenv(name) != "" {
				return nil, fmt.Errorf("%s and %s_FILE are both set; set only one of them", name, name)
			}
		}
	}
	return s.read(path)
}

// read returns the file's text without trailing line ends.
func (s *secretFiles) read(path string) (string, error) {
	in := s.stdin
	if path == "-" {
		if s.used {
			return "", errors.New("standard input was already read for another secret")
		}
		s.used = true
	} else {
		file, err := os.Open(path)
		if err != nil {
			return "", fmt.Errorf("cannot read the secret's file: %w", err)
		}
		defer func() { _ = file.Close() }()
		in = file
	}
	text, err := io.ReadAll(io.LimitReader(in, maxSecret+1))
	if err != nil {
		return "", fmt.Errorf("cannot read the secret's file: %w", err)
	}
	secret := strings.TrimRight(string(text), "\r\n")
	if secret == "" || len(text) > maxSecret {
		return "", fmt.Errorf("the secret's file %s must not be empty or longer than %d bytes", path, maxSecret)
	}
	return secret, nil
}
