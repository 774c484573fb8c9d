package main

import (
	"bytes"
	"fmt"

	esbuild "github.com/evanw/esbuild/pkg/api"
)

// script returns the writer of a bundle of the tracker: the minified source with all that it imports.
func script(source string, format esbuild.Format) func(*bytes.Buffer) error {
	return func(b *bytes.Buffer) error {
		built := esbuild.Build(esbuild.BuildOptions{
			EntryPoints: []string{"api/tracker/src/" + source}, Bundle: true, Format: format, Target: esbuild.ES2020,
			Charset: esbuild.CharsetUTF8, LegalComments: esbuild.LegalCommentsNone,
			MinifyWhitespace: true, MinifyIdentifiers: true, MinifySyntax: true,
		})
		if len(built.Errors) > 0 {
			e := built.Errors[0]
			if e.Location != nil {
				return fmt.Errorf("%s:%d: %s", e.Location.File, e.Location.Line, e.Text)
			}
			return fmt.Errorf("%s: %s", source, e.Text)
		}
		b.Write(built.OutputFiles[0].Contents)
		return nil
	}
}
