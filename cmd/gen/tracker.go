package main

import (
	"bytes"
	"fmt"

	esbuild "github.com/evanw/esbuild/pkg/api"
)

// script returns a function that writes a bundle of the tracker: a minified source file with all its imports.
func script(source string, format esbuild.Format) func(*bytes.Buffer) error {
	return func(b *bytes.Buffer) error {
		files, err := bundle(esbuild.BuildOptions{
			EntryPoints: []string{"api/tracker/src/" + source}, Format: format, Target: esbuild.ES2020,
		})
		if err != nil {
			return err
		}
		b.Write(files[0].Contents)
		return nil
	}
}

// bundle builds and minifies the files in the options.
func bundle(options esbuild.BuildOptions) ([]esbuild.OutputFile, error) {
	options.Bundle, options.Charset, options.LegalComments = true, esbuild.CharsetUTF8, esbuild.LegalCommentsNone
	options.MinifyWhitespace, options.MinifyIdentifiers, options.MinifySyntax = true, true, true
	built := esbuild.Build(options)
	if len(built.Errors) > 0 {
		e := built.Errors[0]
		if e.Location != nil {
			return nil, fmt.Errorf("%s:%d: %s", e.Location.File, e.Location.Line, e.Text)
		}
		return nil, fmt.Errorf("%s: %s", options.EntryPoints[0], e.Text)
	}
	return built.OutputFiles, nil
}
