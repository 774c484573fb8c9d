package main

import (
	"bytes"
	"errors"
	"os"
	"strings"

	esbuild "github.com/evanw/esbuild/pkg/api"
)

// page returns the writer of a file of the dashboard's bundle, by the file's extension. Its libraries are named in
// api/dashboard/package.json.
func page(extension string) func(*bytes.Buffer) error {
	return func(b *bytes.Buffer) error {
		if _, err := os.Stat("api/dashboard/node_modules"); err != nil {
			return errors.New("its libraries are missing (make dashboard)")
		}
		files, err := bundle(esbuild.BuildOptions{
			EntryPoints: []string{"api/dashboard/src/main.tsx"}, Outfile: "app.js", Format: esbuild.FormatESModule,
			Target: esbuild.ES2022, JSX: esbuild.JSXAutomatic, JSXImportSource: "preact",
			Banner: map[string]string{"js": "// With Preact and its signals, (c) Jason Miller and others, MIT."},
		})
		if err != nil {
			return err
		}
		for _, file := range files {
			if strings.HasSuffix(file.Path, extension) {
				b.Write(file.Contents)
			}
		}
		return nil
	}
}
